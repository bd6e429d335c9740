#include "workload.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "peaks.h"

namespace encdec::bench {
namespace {

using benchmark::Counter;

// The largest rate at which bare packed matmuls of these shapes run one after the other, in operations per second.
double bare_matmul_rate(const std::vector<MatMulShape>& shapes) {
  Graph graph("bare");
  Edge input = graph.input("x", {kSourceRows, 1});
  graph.output(input);
  RunState state(graph, std::make_shared<ThreadTeam>(thread_count()));
  std::vector<MatMul> matmuls;
  std::vector<Tensor> inputs, outputs;
  for (const auto& [rows, input_width, output_width] : shapes) {
    const WeightMatrix weight = noise({output_width, input_width});
    matmuls.emplace_back(std::span(&weight, 1), std::span<const Tensor>(),
                         PackOptions{.threads = thread_count(), .precision = precision()});
    inputs.push_back(noise({rows, input_width}));
    outputs.push_back(noise({rows, output_width}));
  }
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

Tensor noise(const Shape& shape) {
  Tensor tensor = Tensor::allocate(shape);
  std::uint32_t state = 1;
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    state = state * 1664525u + 1013904223u;
    tensor.data<float>()[i] = (static_cast<float>(state >> 8) / 0x1p24f - 0.5f) * 0.1f;
  }
  return tensor;
}

Tensor token_ids(std::int64_t count, Dim vocabulary) {
  Tensor ids = Tensor::allocate({count}, DataType::int32);
  for (std::int64_t i = 0; i < count; ++i)
    ids.data<std::int32_t>()[i] = static_cast<std::int32_t>(i * 7919 % vocabulary);
  return ids;
}

std::shared_ptr<const WeightStore> random_store(const WeightShapes& shapes) {
  auto store = std::make_shared<WeightStore>("random weights");
  for (const auto& [name, shape] : shapes) store->add(name, noise(shape));
  return store;
}

WeightScope random_weights(const WeightShapes& shapes) {
  const auto names = [](const std::string& canonical) { return std::vector<StoredName>{canonical}; };
  return {random_store(shapes), names, {.threads = thread_count(), .precision = precision()}};
}

void add_projection(WeightShapes& shapes, const std::string& name, Dim out, Dim in) {
  shapes.emplace(name + ".weight", Shape{out, in});
  shapes.emplace(name + ".bias", Shape{out});
}

void add_norm(WeightShapes& shapes, const std::string& name, Dim width) {
  shapes.emplace(name + ".weight", Shape{width});
  shapes.emplace(name + ".bias", Shape{width});
}

void add_attention(WeightShapes& shapes, const std::string& name, Dim model_dim) {
  for (const char* part : {"query", "key", "value", "output"}) {
    add_projection(shapes, name + "." + part, model_dim, model_dim);
  }
}

void add_feed_forward(WeightShapes& shapes, const std::string& name, Dim model_dim, Dim hidden_dim) {
  add_projection(shapes, name + ".expand", hidden_dim, model_dim);
  add_projection(shapes, name + ".project", model_dim, hidden_dim);
}

double Work::operations() const {
  double total = attention_operations;
  for (const auto& [rows, in, out] : matmuls) total += 2.0 * static_cast<double>(rows * in * out);
  return total;
}

double Work::weight_bytes() const {
  double total = 0;
  for (const auto& [rows, in, out] : matmuls)
    total += static_cast<double>(in * out) * static_cast<double>(encdec::weight_bytes(precision()));
  return total;
}

double attention_operations(double queries, double keys, Dim model_dim) {
  return 4.0 * queries * keys * static_cast<double>(model_dim);
}

void count(benchmark::State& state, const Work& work) {
  const auto rate = [](double amount) { return Counter(amount, Counter::kIsIterationInvariantRate); };
  const double operations = work.operations();
  state.counters["GFLOP/s"] = rate(operations * 1e-9);
  state.counters["% of peak"] = rate(operations / peaks().matmul * 100);
  state.counters["bare_GFLOP/s"] = bare_matmul_rate(work.matmuls) * 1e-9;
  const double read_seconds = work.weight_bytes() / peaks().read_bandwidth;
  if (read_seconds > operations / peaks().matmul) state.counters["% of bandwidth"] = rate(read_seconds * 100);
}

void count_bytes(benchmark::State& state, double bytes) {
  state.counters["GB/s"] = Counter(bytes * 1e-9, Counter::kIsIterationInvariantRate);
}

}  // namespace encdec::bench
