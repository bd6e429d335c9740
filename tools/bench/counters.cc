#include "bench/counters.h"

#include <encdec/engine/backend/backends.h>
#include <encdec/engine/graph.h>
#include <encdec/engine/matmul.h>
#include <encdec/engine/run_state.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

namespace encdec::bench {
namespace {

using benchmark::Counter;

BackendChoice current_backend = BackendChoice::automatic;  // backend of the running benchmark

// Runs bare oneDNN matmuls of these shapes one after the other. Returns their best rate in operations per second.
double bare_matmul_rate(const std::vector<MatMulShape>& shapes) {
  Graph graph("bare");
  Edge input = graph.input("x", {kSourceRows, 1});
  graph.output(input);
  RunState state(graph, std::make_shared<ThreadTeam>(thread_count()));
  PackOptions pack = pack_options();
  pack.backend = BackendChoice::onednn;
  std::vector<MatMul> matmuls;
  std::vector<Tensor> inputs, outputs;
  for (const auto& [rows, input_width, output_width] : shapes) {
    const WeightMatrix weight = noise({output_width, input_width});
    matmuls.emplace_back(std::span(&weight, 1), std::span<const Tensor>(), MatMulOptions{pack});
    inputs.push_back(noise({rows, input_width}));
    outputs.push_back(noise({rows, output_width}));
  }
  // Run all matmuls at least three times and for at least 100 ms. Use the time of the fastest run.
  using Clock = std::chrono::steady_clock;
  double best = 1e30;
  const auto end = Clock::now() + std::chrono::milliseconds(100);
  for (int i = 0; i < 3 || Clock::now() < end; ++i) {
    const auto start = Clock::now();
    for (std::size_t m = 0; m < matmuls.size(); ++m) matmuls[m].forward(inputs[m], nullptr, outputs[m], state);
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return Work{.matmuls = shapes}.operations() / best;
}

}  // namespace

int thread_count() {
  const char* text = std::getenv("ENCDEC_BENCH_THREADS");
  return text == nullptr ? 1 : std::max(1, std::atoi(text));
}

Precision precision() {
  const char* text = std::getenv("ENCDEC_BENCH_PRECISION");
  return text == nullptr ? Precision::float32 : precision_named(text).value_or(Precision::float32);
}

PackOptions pack_options() {
  return {.threads = thread_count(), .precision = precision(), .backend = current_backend};
}

void register_once(const std::string& name, const RunBenchmark& run, const SetSizes& sizes) {
  sizes(*benchmark::RegisterBenchmark(name.c_str(), run)->UseRealTime()->Unit(benchmark::kMicrosecond));
}

void register_for_backends(const std::string& name, const RunBenchmark& run, const SetSizes& sizes) {
  std::vector<BackendChoice> choices = {BackendChoice::onednn, BackendChoice::encdec};
  if (std::getenv("ENCDEC_BACKEND") != nullptr) choices = {backend::default_backend()};
  for (const BackendChoice choice : choices) {
    const auto run_with = [run, choice](benchmark::State& state) {
      current_backend = choice;
      run(state);
    };
    register_once(fmt::format("{}/{}", name, to_string(choice)), run_with, sizes);
  }
}

void count(benchmark::State& state, const Work& work) {
  const auto rate = [](double amount) { return Counter(amount, Counter::kIsIterationInvariantRate); };
  if (work.moved_bytes > 0) {
    state.counters["GB/s"] = rate(work.moved_bytes * 1e-9);
    return;
  }
  const double operations = work.operations();
  state.counters["GFLOP/s"] = rate(operations * 1e-9);
  state.counters["% of peak"] = rate(operations / peaks().matmul * 100);
  state.counters["bare_GFLOP/s"] = bare_matmul_rate(work.matmuls) * 1e-9;
  const double read_seconds = work.weight_bytes(precision()) / peaks().read_bandwidth;
  if (read_seconds > operations / peaks().matmul) state.counters["% of bandwidth"] = rate(read_seconds * 100);
}

}  // namespace encdec::bench
