// encdec-bench: measures the speed of each layer beside that of the machine. Each benchmark runs one layer, or one
// stack of layers, with one backend and the shape in its name: FeedForward/onednn/B:1/T:32/D:512/F:2048 has one
// sequence of 32 rows. counters.h lists what is printed.
//
//   encdec-bench --benchmark_filter=FeedForward --benchmark_min_time=0.1
//
// Measures wall-clock time, so other work on the machine changes the results.
// ENCDEC_BACKEND=B runs one backend only: onednn, encdec or auto.
// ENCDEC_BENCH_THREADS=N gives each operation N threads (1 if not set).
#include <benchmark/benchmark.h>
#include <encdec/engine/matmul.h>
#include <fmt/format.h>

#include "bench/counters.h"
#include "bench/samples.h"

namespace encdec::bench {
namespace {

// Measures the peak rates of the machine and lets Google Benchmark print them before all results.
void tell_peaks() {
  // Uses the engine once, because only then it limits its vector instructions to ONEDNN_MAX_CPU_ISA.
  const WeightMatrix weight = noise({16, 16});
  const MatMul first(std::span(&weight, 1), std::span<const Tensor>());
  const int threads = thread_count();
  const auto tell = [](const std::string& name, int count, double rate, const char* unit) {
    benchmark::AddCustomContext(fmt::format("{}, {} thread{}", name, count, count == 1 ? "" : "s"),
                                fmt::format("{:.1f} {}", rate * 1e-9, unit));
  };
  tell(float32_loop().name, threads, measure(float32_loop(), threads), "GFLOP/s");
  for (const RegisterLoop& loop : low_precision_loops()) tell(loop.name, threads, measure(loop, threads), "GOP/s");
  benchmark::AddCustomContext("precision", fmt::format("{}, peak of {}", to_string(precision()), matmul_loop().name));
  if (threads > 1) tell("read bandwidth", 1, read_bandwidth(1), "GB/s");
  tell("read bandwidth", threads, peaks().read_bandwidth, "GB/s");
}

void register_layers() {
  for (const LayerSample& layer : transformer_layers()) {
    // The smallest size shows whether the layer multiplies matrices.
    const bool multiplies = !layer.make(layer.sizes.front(), pack_options()).work.matmuls.empty();
    const auto run = [make = layer.make, count_sizes = layer.size_names.size()](benchmark::State& state) {
      LayerSample::Sizes sizes;
      for (std::size_t i = 0; i < count_sizes; ++i) sizes.push_back(state.range(i));
      Sample sample = make(sizes, pack_options());
      const Work work = sample.work;
      SampleRun repeated(std::move(sample), thread_count());
      for (auto _ : state) benchmark::DoNotOptimize(repeated.run().data());
      count(state, work);
    };
    const auto set_sizes = [&](benchmark::internal::Benchmark& registered) {
      registered.ArgNames(layer.size_names);
      for (const LayerSample::Sizes& sizes : layer.sizes) registered.Args(sizes);
    };
    (multiplies ? register_for_backends : register_once)(layer.name, run, set_sizes);
  }
}

// A reporter that prints rates as plain numbers. Google Benchmark would append "/s" to them, although their names
// contain the unit: "GFLOP/s=205/s".
class PlainRates final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& context) override { return reporter_.ReportContext(context); }
  void ReportRuns(const std::vector<Run>& runs) override {
    std::vector<Run> plain = runs;
    for (Run& run : plain) {
      for (auto& [name, counter] : run.counters) counter.flags = benchmark::Counter::kDefaults;
    }
    reporter_.ReportRuns(plain);
  }
  void Finalize() override { reporter_.Finalize(); }

 private:
  benchmark::BenchmarkReporter& reporter_ = *benchmark::CreateDefaultDisplayReporter();
};

}  // namespace
}  // namespace encdec::bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  encdec::bench::tell_peaks();
  encdec::bench::register_layers();
  encdec::bench::register_stacks();
  encdec::bench::PlainRates reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  benchmark::Shutdown();
}
