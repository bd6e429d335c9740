// Benchmarks of attention over dense batches: its parts, and all of it in one node.
#include <encdec/layers/lessons/dense/additive_attention.h>
#include <encdec/layers/lessons/dense/dot_product_attention.h>
#include <encdec/layers/lessons/dense/masked_softmax.h>
#include <encdec/layers/lessons/dropout.h>

#include <algorithm>

#include "bench/samples.h"

namespace encdec::bench {
namespace {

// Sizes of a dense batch: B members, Q queries, K keys, and the width D of queries, keys and values. Each member has
// Q x K scores and weights.
struct Dense {
  std::int64_t batch, query_count, key_count, width;
  PackOptions pack;

  Dense(const LayerSample::Sizes& sizes, const PackOptions& of_weights)
      : batch(sizes[0]), query_count(sizes[1]), key_count(sizes[2]), width(sizes[3]), pack(of_weights) {}

  // Work of the scores, and of the weighted sums of values: one matrix product for each member.
  Work scoring() const { return {.matmuls = {static_cast<std::size_t>(batch), {query_count, width, key_count}}}; }
  Work summing() const { return {.matmuls = {static_cast<std::size_t>(batch), {query_count, key_count, width}}}; }
  Work moving(std::int64_t floats) const { return {.moved_bytes = 2 * bytes_of(floats)}; }
  // Work of additive scores: both projections, and the hidden layer.
  Work comparing() const {
    return {.matmuls = {{batch * query_count, width, width}, {batch * key_count, width, width}},
            .hyperbolic_tangents = static_cast<double>(batch * query_count * key_count * width)};
  }
  // Returns a layer with additive scores and hidden_dim D.
  template <class L>
  std::shared_ptr<const Layer> additive() const {
    return std::make_shared<L>(
        random_weights({{"query.weight", {width, width}}, {"key.weight", {width, width}}, {"value.weight", {1, width}}},
                       pack),
        AdditiveOptions{.query_dim = width, .key_dim = width, .hidden_dim = width});
  }

  Tensor queries() const { return noise({batch, query_count, width}); }
  Tensor keys() const { return noise({batch, key_count, width}); }
  Tensor scores() const { return noise({batch, query_count, key_count}); }
  // Returns lengths of three quarters of the keys, for each member or each query.
  Tensor lengths(const Shape& shape) const {
    Tensor lengths = Tensor::allocate(shape, DataType::int32);
    std::fill_n(lengths.data<std::int32_t>(), lengths.elements(), static_cast<std::int32_t>(key_count - key_count / 4));
    return lengths;
  }
};

Work both(Work work, const Work& other) {
  work.matmuls.insert(work.matmuls.end(), other.matmuls.begin(), other.matmuls.end());
  return work;
}

Sample dot_product_scores(const Dense& dense, ScoreScale scale) {
  return one_layer(std::make_shared<DotProductScores>(DotProductOptions{.scale = scale}),
                   {dense.queries(), dense.keys()}, dense.scoring());
}

Sample masked_softmax(const Dense& dense, const Tensor& scores, const Tensor& lengths) {
  return one_layer(std::make_shared<MaskedSoftmax>(), {scores, lengths}, dense.moving(scores.elements()));
}

// Returns a sample with all of attention in one node.
Sample attention(const Dense& dense, std::shared_ptr<const Layer> layer, const Work& scoring) {
  return one_layer(std::move(layer), {dense.queries(), dense.keys(), dense.keys(), dense.lengths({dense.batch})},
                   both(scoring, dense.summing()));
}

}  // namespace

std::vector<LayerSample> dense_attention_layers() {
  // A decoding step, then whole sequences with the width of one head, then with the width of a small model.
  const std::vector<LayerSample::Sizes> sizes{{32, 1, 64, 64}, {8, 64, 64, 64}, {1, 512, 512, 64}, {4, 64, 64, 256}};
  std::vector<LayerSample> layers;
  const auto add = [&](const char* name, Sample (*make)(const Dense&)) {
    layers.push_back({name, {"B", "Q", "K", "D"}, sizes, [make](const LayerSample::Sizes& of, const PackOptions& pack) {
                        return make(Dense(of, pack));
                      }});
  };
  add("DotProductScores", [](const Dense& dense) { return dot_product_scores(dense, ScoreScale::scaled); });
  add("DotProductScores/plain", [](const Dense& dense) { return dot_product_scores(dense, ScoreScale::plain); });
  add("AdditiveScores", [](const Dense& dense) {
    return one_layer(dense.additive<AdditiveScores>(), {dense.queries(), dense.keys()}, dense.comparing());
  });
  add("MaskedSoftmax",
      [](const Dense& dense) { return masked_softmax(dense, dense.scores(), dense.lengths({dense.batch})); });
  add("MaskedSoftmax/by_query", [](const Dense& dense) {
    return masked_softmax(dense, dense.scores(), dense.lengths({dense.batch, dense.query_count}));
  });
  add("MaskedSoftmax/rows", [](const Dense& dense) {  // the same rows of scores, without a batch
    const Dim rows = dense.batch * dense.query_count;
    return masked_softmax(dense, dense.scores().reshape({rows, dense.key_count}), dense.lengths({rows}));
  });
  add("WeightedSum", [](const Dense& dense) {
    return one_layer(std::make_shared<WeightedSum>(), {dense.scores(), dense.keys()}, dense.summing());
  });
  add("Dropout", [](const Dense& dense) {
    const Tensor queries = dense.queries();
    return one_layer(std::make_shared<Dropout>(DropoutOptions{.rate = 0.1f}), {queries},
                     dense.moving(queries.elements()));
  });
  add("DotProductAttention", [](const Dense& dense) {
    return attention(dense, std::make_shared<DotProductAttention>(DotProductOptions{}), dense.scoring());
  });
  add("AdditiveAttention",
      [](const Dense& dense) { return attention(dense, dense.additive<AdditiveAttention>(), dense.comparing()); });
  return layers;
}

}  // namespace encdec::bench
