// Attention over dense batches, in parts and in one node.
#include <encdec/layers/additive_attention.h>
#include <encdec/layers/dot_product_attention.h>
#include <encdec/layers/dropout.h>
#include <encdec/layers/masked_softmax.h>

#include <algorithm>

#include "bench_layer.h"

namespace encdec::bench {
namespace {

// B, Q, K and D, the width of queries, keys and values.
struct Sizes {
  Dim batch, queries, keys, width;

  explicit Sizes(const benchmark::State& state)
      : batch(state.range(0)), queries(state.range(1)), keys(state.range(2)), width(state.range(3)) {}

  // As products of matrices, one for each member: scores, and the values weighed.
  std::vector<MatMulShape> score_matmuls() const {
    return {static_cast<std::size_t>(batch), MatMulShape{queries, width, keys}};
  }
  std::vector<MatMulShape> sum_matmuls() const {
    return {static_cast<std::size_t>(batch), MatMulShape{queries, keys, width}};
  }
  // Weights of additive scores with hidden_dim D.
  WeightShapes additive_weights() const {
    return {{"query.weight", {width, width}}, {"key.weight", {width, width}}, {"value.weight", {1, width}}};
  }
  AdditiveOptions additive_options() const { return {.query_dim = width, .key_dim = width, .hidden_dim = width}; }
  std::vector<MatMulShape> additive_matmuls() const {
    return {{batch * queries, width, width}, {batch * keys, width, width}};
  }
  double hyperbolic_tangents() const { return static_cast<double>(batch * queries * keys * width); }

  Tensor query_rows() const { return noise({batch, queries, width}); }
  Tensor key_rows() const { return noise({batch, keys, width}); }
  Tensor scores() const { return noise({batch, queries, keys}); }
  // Three quarters of the keys, for each member or each query.
  Tensor lengths(const Shape& shape) const {
    Tensor lengths = Tensor::allocate(shape, DataType::int32);
    std::fill_n(lengths.data<std::int32_t>(), lengths.elements(), static_cast<std::int32_t>(keys - keys / 4));
    return lengths;
  }
  Tensor lengths() const { return lengths({batch}); }
  double moved_scores() const { return 2.0 * static_cast<double>(batch * queries * keys) * sizeof(float); }
};

Bench bench_of(std::shared_ptr<const Layer> layer, std::vector<Tensor> inputs) {
  Graph graph("benchmark");
  std::vector<Edge> edges;
  for (const Tensor& input : inputs) {
    edges.push_back(graph.input(fmt::format("input {}", edges.size()), input.shape(), input.type()));
  }
  graph.output(graph.add("layer", std::move(layer), edges));
  return {std::move(graph), std::move(inputs)};
}

void count_tangents(benchmark::State& state, const Sizes& sizes) {
  state.counters["Gtanh/s"] =
      benchmark::Counter(sizes.hyperbolic_tangents() * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
}

template <ScoreScale scale>
void bench_dot_product_scores(benchmark::State& state) {
  const Sizes sizes(state);
  bench_of(std::make_shared<DotProductScores>(DotProductOptions{.scale = scale}),
           {sizes.query_rows(), sizes.key_rows()})
      .run(state, {.matmuls = sizes.score_matmuls()});
}

void bench_additive_scores(benchmark::State& state) {
  const Sizes sizes(state);
  bench_of(std::make_shared<AdditiveScores>(random_weights(sizes.additive_weights()), sizes.additive_options()),
           {sizes.query_rows(), sizes.key_rows()})
      .run(state, {.matmuls = sizes.additive_matmuls()});
  count_tangents(state, sizes);
}

void bench_masked_softmax(benchmark::State& state) {
  const Sizes sizes(state);
  bench_of(std::make_shared<MaskedSoftmax>(), {sizes.scores(), sizes.lengths()})
      .run_moving(state, sizes.moved_scores());
}

void bench_masked_softmax_by_query(benchmark::State& state) {
  const Sizes sizes(state);
  bench_of(std::make_shared<MaskedSoftmax>(), {sizes.scores(), sizes.lengths({sizes.batch, sizes.queries})})
      .run_moving(state, sizes.moved_scores());
}

// As many rows of scores, without a batch.
void bench_masked_softmax_of_rows(benchmark::State& state) {
  const Sizes sizes(state);
  const Dim rows = sizes.batch * sizes.queries;
  bench_of(std::make_shared<MaskedSoftmax>(), {sizes.scores().reshape({rows, sizes.keys}), sizes.lengths({rows})})
      .run_moving(state, sizes.moved_scores());
}

void bench_weighted_sum(benchmark::State& state) {
  const Sizes sizes(state);
  bench_of(std::make_shared<WeightedSum>(), {sizes.scores(), sizes.key_rows()})
      .run(state, {.matmuls = sizes.sum_matmuls()});
}

void bench_dropout(benchmark::State& state) {
  const Sizes sizes(state);
  bench_of(std::make_shared<Dropout>(DropoutOptions{.rate = 0.1f}), {sizes.query_rows()})
      .run_moving(state, 2.0 * static_cast<double>(sizes.batch * sizes.queries * sizes.width) * sizeof(float));
}

void bench_dot_product_attention(benchmark::State& state) {
  const Sizes sizes(state);
  Work work{.matmuls = sizes.score_matmuls()};
  work.matmuls.insert(work.matmuls.end(), static_cast<std::size_t>(sizes.batch),
                      {sizes.queries, sizes.keys, sizes.width});
  bench_of(std::make_shared<DotProductAttention>(DotProductOptions{}),
           {sizes.query_rows(), sizes.key_rows(), sizes.key_rows(), sizes.lengths()})
      .run(state, work);
}

void bench_additive_attention(benchmark::State& state) {
  const Sizes sizes(state);
  Work work{.matmuls = sizes.additive_matmuls()};
  work.matmuls.insert(work.matmuls.end(), static_cast<std::size_t>(sizes.batch),
                      {sizes.queries, sizes.keys, sizes.width});
  bench_of(std::make_shared<AdditiveAttention>(random_weights(sizes.additive_weights()), sizes.additive_options()),
           {sizes.query_rows(), sizes.key_rows(), sizes.key_rows(), sizes.lengths()})
      .run(state, work);
  count_tangents(state, sizes);
}

// A decoding step, and whole sequences of the width of one head and of a small model.
void sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->UseRealTime()
      ->ArgNames({"B", "Q", "K", "D"})
      ->Args({32, 1, 64, 64})
      ->Args({8, 64, 64, 64})
      ->Args({1, 512, 512, 64})
      ->Args({4, 64, 64, 256});
}

BENCHMARK(bench_dot_product_scores<ScoreScale::scaled>)->Name("DotProductScores")->Apply(sizes);
BENCHMARK(bench_dot_product_scores<ScoreScale::plain>)->Name("DotProductScores/plain")->Apply(sizes);
BENCHMARK(bench_additive_scores)->Name("AdditiveScores")->Apply(sizes);
BENCHMARK(bench_masked_softmax)->Name("MaskedSoftmax")->Apply(sizes);
BENCHMARK(bench_masked_softmax_by_query)->Name("MaskedSoftmax/by_query")->Apply(sizes);
BENCHMARK(bench_masked_softmax_of_rows)->Name("MaskedSoftmax/rows")->Apply(sizes);
BENCHMARK(bench_weighted_sum)->Name("WeightedSum")->Apply(sizes);
BENCHMARK(bench_dropout)->Name("Dropout")->Apply(sizes);
BENCHMARK(bench_dot_product_attention)->Name("DotProductAttention")->Apply(sizes);
BENCHMARK(bench_additive_attention)->Name("AdditiveAttention")->Apply(sizes);

}  // namespace
}  // namespace encdec::bench
