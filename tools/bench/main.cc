// encdec-bench: measures the speed of each layer, and compares it with the machine's peak. Each benchmark runs one
// layer, or one stack of layers, with the backend and the shape in its name: FeedForward/onednn/B:1/T:32/D:512/F:2048
// has one sequence of 32 rows. counters.h lists the counters.
//
//   encdec-bench --benchmark_filter=FeedForward --benchmark_min_time=0.1
//
// The program measures wall-clock time, so other work on the machine changes the results.
#include <benchmark/benchmark.h>
#include <encdec/engine/matmul.h>
#include <encdec/models/session/session.h>
#include <fmt/format.h>

#include "bench/counters.h"
#include "bench/samples.h"

namespace encdec::bench {
namespace {

// Measures the machine's peak rates, which Google Benchmark prints before the results.
void tell_peaks() {
  // Use the engine once, so that ONEDNN_MAX_CPU_ISA limits the vector instructions of its kernels.
  const WeightMatrix weight = noise({16, 16});
  const MatMul first(std::span(&weight, 1), std::span<const Tensor>());
  const int threads = thread_count();
  const auto report = [](const std::string& name, int count, double rate, const char* unit) {
    benchmark::AddCustomContext(fmt::format("{}, {} thread{}", name, count, count == 1 ? "" : "s"),
                                fmt::format("{:.1f} {}", rate * 1e-9, unit));
  };
  report(float32_loop().name, threads, measure(float32_loop(), threads), "GFLOP/s");
  for (const RegisterLoop& loop : low_precision_loops()) report(loop.name, threads, measure(loop, threads), "GOP/s");
  benchmark::AddCustomContext("precision", fmt::format("{}, peak of {}", to_string(precision()), matmul_loop().name));
  if (threads > 1) report("read bandwidth", 1, read_bandwidth(1), "GB/s");
  report("read bandwidth", threads, peaks().read_bandwidth, "GB/s");
}

// Registers the benchmarks of single layers.
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

constexpr int kLayers = 6;
constexpr Dim kStackVocabulary = 32000;

// Returns a whole Transformer with random weights.
std::shared_ptr<const Transformer> random_transformer(Dim model_dim, Dim hidden_dim) {
  TransformerConfig config;
  config.encoder = {.vocabulary = kStackVocabulary,
                    .layers = kLayers,
                    .model_dim = model_dim,
                    .hidden_dim = hidden_dim,
                    .attention = {.heads = static_cast<int>(model_dim / 64)}};
  config.decoder = config.encoder;
  // Add the weights and a norm of each block. Both embeddings and the output projection share one matrix.
  WeightShapes shapes{{"embedding.weight", {kStackVocabulary, model_dim}}};
  const auto add_block = [&](const std::string& name, const WeightShapes& weights) {
    add_weights(shapes, name, weights);
    add_weights(shapes, name + "_norm", norm_weights(model_dim));
  };
  for (int layer = 0; layer < kLayers; ++layer) {
    for (const std::string stack : {"encoder", "decoder"}) {
      const std::string prefix = fmt::format("{}.{}.", stack, layer);
      add_block(prefix + "self_attention", attention_weights(model_dim));
      if (stack == "decoder") add_block(prefix + "cross_attention", attention_weights(model_dim));
      add_block(prefix + "feed_forward", feed_forward_weights(model_dim, hidden_dim));
    }
  }
  const auto names = [](const std::string& canonical) {
    const bool table = canonical.ends_with("embedding.weight") || canonical == "output_projection.weight";
    return std::vector<StoredName>{table ? "embedding.weight" : canonical};
  };
  return std::make_shared<const Transformer>(config, WeightScope(random_store(shapes), names, pack_options()));
}

// Returns the matmuls of all layers. Each layer has the matmuls of self-attention, feed-forward and `more`.
std::vector<MatMulShape> layer_matmuls(std::int64_t rows, Dim model, Dim hidden, const std::vector<MatMulShape>& more) {
  std::vector<MatMulShape> shapes;
  for (int layer = 0; layer < kLayers; ++layer) {
    shapes.insert(shapes.end(),
                  {{rows, model, 3 * model}, {rows, model, model}, {rows, model, hidden}, {rows, hidden, model}});
    shapes.insert(shapes.end(), more.begin(), more.end());
  }
  return shapes;
}

// Runs the encoder, and computes the cross-attention keys and values of each decoder layer.
void bench_encoder(benchmark::State& state) {
  const int batch = static_cast<int>(state.range(0)), length = static_cast<int>(state.range(1));
  const Dim model = state.range(2), hidden = state.range(3);
  Session session(random_transformer(model, hidden), std::make_shared<ThreadTeam>(thread_count()));
  const std::vector<TokenIds> sources(static_cast<std::size_t>(batch), TokenIds(static_cast<std::size_t>(length), 5));
  for (auto _ : state) {
    session.reset();
    benchmark::DoNotOptimize(session.encode(sources).hidden.raw());
  }
  const std::int64_t rows = batch * length;
  count(state, {.matmuls = layer_matmuls(rows, model, hidden, {{rows, model, 2 * model}}),
                .attention_operations = kLayers * batch * attention_operations(length, length, model)});
}

// Runs one decoding step at position T - 1, including the logits, for sources of 32 tokens.
void bench_decoder_step(benchmark::State& state) {
  const int batch = static_cast<int>(state.range(0)), length = static_cast<int>(state.range(1));
  const Dim model = state.range(2), hidden = state.range(3);
  constexpr int kSourceLength = 32;
  Session session(random_transformer(model, hidden), std::make_shared<ThreadTeam>(thread_count()));
  const std::vector<TokenIds> sources(static_cast<std::size_t>(batch), TokenIds(kSourceLength, 5));
  const TokenIds past(static_cast<std::size_t>(length - 1), 5);
  const std::int32_t token = 7;
  std::vector<Session::TargetTokens> step;
  for (auto _ : state) {
    state.PauseTiming();  // do not measure the return to the same position
    session.reset();
    step.clear();
    for (const int source : session.encode(sources).sources) step.push_back({session.open_target(source), past});
    if (!past.empty()) session.decode(step);
    for (auto& input : step) input.tokens = std::span(&token, 1);
    state.ResumeTiming();
    benchmark::DoNotOptimize(session.decode(step).raw());
  }
  // In each layer, the step's cross-attention adds a matmul for queries and one for outputs. The logits add another
  // matmul.
  auto matmuls = layer_matmuls(batch, model, hidden, {2, {batch, model, model}});
  matmuls.push_back({batch, model, kStackVocabulary});
  count(state, {.matmuls = matmuls,
                .attention_operations = kLayers * batch * attention_operations(1, length + kSourceLength, model)});
}

// Registers the benchmarks of whole stacks: the encoder, and single steps of the decoder.
void register_stacks() {
  register_for_backends("Encoder", bench_encoder, [](benchmark::internal::Benchmark& encoder) {
    encoder.ArgNames({"B", "T", "D", "F"})
        ->Args({1, 32, 512, 2048})
        ->Args({1, 512, 512, 2048})
        ->Args({32, 32, 512, 2048})
        ->Args({8, 128, 512, 2048});
  });
  register_for_backends("DecoderStep", bench_decoder_step, [](benchmark::internal::Benchmark& step) {
    step.ArgNames({"B", "T", "D", "F"})->Args({1, 32, 512, 2048})->Args({8, 32, 512, 2048})->Args({32, 32, 512, 2048});
  });
}

// Prints rates as plain numbers. Google Benchmark would append "/s", although the rates' names contain the unit:
// "GFLOP/s=205/s".
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
