// Attention over dense batches, in parts and in one node.
#include <encdec/layers/dense/additive_attention.h>
#include <encdec/layers/dense/dot_product_attention.h>
#include <encdec/layers/dense/masked_softmax.h>
#include <encdec/layers/transformer/dropout.h>

#include <algorithm>

#include "samples.h"

namespace encdec::bench {
namespace {

// B, Q, K and D, the width of queries, keys and values; Q x K scores of each member, and as many weights.
struct Dense {
  std::int64_t batch, query_count, key_count, width;

  explicit Dense(const LayerSample::Sizes& sizes)
      : batch(sizes[0]), query_count(sizes[1]), key_count(sizes[2]), width(sizes[3]) {}

  // As products of matrices, one for each member: scores, and the values weighed.
  Work scoring() const { return {.matmuls = {static_cast<std::size_t>(batch), {query_count, width, key_count}}}; }
  Work summing() const { return {.matmuls = {static_cast<std::size_t>(batch), {query_count, key_count, width}}}; }
  Work moving(std::int64_t floats) const { return {.moved_bytes = 2.0 * static_cast<double>(floats) * sizeof(float)}; }
  // Additive scores: both projections, and the hidden layer.
  Work comparing() const {
    return {.matmuls = {{batch * query_count, width, width}, {batch * key_count, width, width}},
            .hyperbolic_tangents = static_cast<double>(batch * query_count * key_count * width)};
  }
  // A layer with additive scores of hidden_dim D.
  template <class L>
  std::shared_ptr<const Layer> additive(const PackOptions& pack) const {
    return std::make_shared<L>(
        random_weights({{"query.weight", {width, width}}, {"key.weight", {width, width}}, {"value.weight", {1, width}}},
                       pack),
        AdditiveOptions{.query_dim = width, .key_dim = width, .hidden_dim = width});
  }

  Tensor queries() const { return noise({batch, query_count, width}); }
  Tensor keys() const { return noise({batch, key_count, width}); }
  Tensor scores() const { return noise({batch, query_count, key_count}); }
  // Three quarters of the keys, for each member or each query.
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

template <ScoreScale scale>
Sample dot_product_scores(const LayerSample::Sizes& sizes, const PackOptions&) {
  const Dense dense(sizes);
  return one_layer(std::make_shared<DotProductScores>(DotProductOptions{.scale = scale}),
                   {dense.queries(), dense.keys()}, dense.scoring());
}

Sample additive_scores(const LayerSample::Sizes& sizes, const PackOptions& pack) {
  const Dense dense(sizes);
  return one_layer(dense.additive<AdditiveScores>(pack), {dense.queries(), dense.keys()}, dense.comparing());
}

Sample masked_softmax(const Tensor& scores, const Tensor& lengths, const Dense& dense) {
  return one_layer(std::make_shared<MaskedSoftmax>(), {scores, lengths}, dense.moving(scores.elements()));
}

Sample softmax_by_member(const LayerSample::Sizes& sizes, const PackOptions&) {
  const Dense dense(sizes);
  return masked_softmax(dense.scores(), dense.lengths({dense.batch}), dense);
}

Sample softmax_by_query(const LayerSample::Sizes& sizes, const PackOptions&) {
  const Dense dense(sizes);
  return masked_softmax(dense.scores(), dense.lengths({dense.batch, dense.query_count}), dense);
}

// As many rows of scores, without a batch.
Sample softmax_of_rows(const LayerSample::Sizes& sizes, const PackOptions&) {
  const Dense dense(sizes);
  const Dim rows = dense.batch * dense.query_count;
  return masked_softmax(dense.scores().reshape({rows, dense.key_count}), dense.lengths({rows}), dense);
}

Sample weighted_sum(const LayerSample::Sizes& sizes, const PackOptions&) {
  const Dense dense(sizes);
  return one_layer(std::make_shared<WeightedSum>(), {dense.scores(), dense.keys()}, dense.summing());
}

Sample dropout(const LayerSample::Sizes& sizes, const PackOptions&) {
  const Dense dense(sizes);
  const Tensor queries = dense.queries();
  return one_layer(std::make_shared<Dropout>(DropoutOptions{.rate = 0.1f}), {queries},
                   dense.moving(queries.elements()));
}

Sample dot_product_attention(const LayerSample::Sizes& sizes, const PackOptions&) {
  const Dense dense(sizes);
  return one_layer(std::make_shared<DotProductAttention>(DotProductOptions{}),
                   {dense.queries(), dense.keys(), dense.keys(), dense.lengths({dense.batch})},
                   both(dense.scoring(), dense.summing()));
}

Sample additive_attention(const LayerSample::Sizes& sizes, const PackOptions& pack) {
  const Dense dense(sizes);
  return one_layer(dense.additive<AdditiveAttention>(pack),
                   {dense.queries(), dense.keys(), dense.keys(), dense.lengths({dense.batch})},
                   both(dense.comparing(), dense.summing()));
}

}  // namespace

std::vector<LayerSample> dense_attention_layers() {
  // A decoding step, and whole sequences of the width of one head and of a small model.
  const std::vector<LayerSample::Sizes> sizes{{32, 1, 64, 64}, {8, 64, 64, 64}, {1, 512, 512, 64}, {4, 64, 64, 256}};
  std::vector<LayerSample> layers;
  const auto add = [&](const char* name, auto make) { layers.push_back({name, {"B", "Q", "K", "D"}, sizes, make}); };
  add("DotProductScores", dot_product_scores<ScoreScale::scaled>);
  add("DotProductScores/plain", dot_product_scores<ScoreScale::plain>);
  add("AdditiveScores", additive_scores);
  add("MaskedSoftmax", softmax_by_member);
  add("MaskedSoftmax/by_query", softmax_by_query);
  add("MaskedSoftmax/rows", softmax_of_rows);
  add("WeightedSum", weighted_sum);
  add("Dropout", dropout);
  add("DotProductAttention", dot_product_attention);
  add("AdditiveAttention", additive_attention);
  return layers;
}

}  // namespace encdec::bench
