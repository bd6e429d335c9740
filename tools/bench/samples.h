#pragma once

#include <encdec/engine/executor.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace encdec::bench {

// Small pseudo-random values: speed does not depend on them, but denormal numbers would be slow.
Tensor noise(const Shape& shape);
// int32 [count] of all over a vocabulary.
Tensor token_ids(std::int64_t count, Dim vocabulary);

// Tensors of these names and shapes, filled with noise.
using WeightShapes = std::map<std::string, Shape>;
std::shared_ptr<const WeightStore> random_store(const WeightShapes& shapes);
// Under their own names.
WeightScope random_weights(const WeightShapes& shapes, const PackOptions& pack);

// What layers need.
WeightShapes projection_weights(Dim out, Dim in);
WeightShapes norm_weights(Dim width);
WeightShapes attention_weights(Dim model_dim);
WeightShapes feed_forward_weights(Dim model_dim, Dim hidden_dim);
// Adds them under a name.
void add_weights(WeightShapes& all, const std::string& name, const WeightShapes& shapes);

struct MatMulShape {
  std::int64_t rows;
  Dim input_width;
  Dim output_width;
};

// What one run does: matmuls with weights, and what attention adds to them; or, of what only moves data, how much.
struct Work {
  std::vector<MatMulShape> matmuls = {};
  double attention_operations = 0;
  double hyperbolic_tangents = 0;
  double moved_bytes = 0;

  double operations() const;
  double weight_bytes(Precision precision) const;  // each weight once
};

// Scores and weighted values: two multiply-adds for each pair of query and key and each column.
template <class Queries, class Keys>
double attention_operations(Queries queries, Keys keys, Dim model_dim) {
  return 4.0 * static_cast<double>(queries) * static_cast<double>(keys) * static_cast<double>(model_dim);
}

// What runs again and again: a graph, its inputs, and the work of one run.
struct Sample {
  Graph graph;
  std::vector<Tensor> inputs;
  Work work;
  std::vector<Sequence> sequences = {};
};

// One layer in several sizes, the smallest first: registered here, it has a benchmark, and a test that it allocates
// nothing after the first runs.
struct LayerSample {
  using Sizes = std::vector<std::int64_t>;

  std::string name;
  std::vector<std::string> size_names;
  std::vector<Sizes> sizes;
  std::function<Sample(const Sizes& sizes, const PackOptions& pack)> make;
};

std::vector<LayerSample> transformer_layers();
// Empty in a build without them (ENCDEC_LESSONS).
std::vector<LayerSample> lesson_layers();
std::vector<LayerSample> dense_attention_layers();
std::vector<LayerSample> long_input_layers();
std::vector<LayerSample> all_layers();

// The same layer between inputs like these.
Sample one_layer(std::shared_ptr<const Layer> layer, std::vector<Tensor> inputs, Work work,
                 std::vector<Sequence> sequences = {});

// `batch` sequences of equal length that fill the packed rows, each with its past and its rows of memory.
struct EqualSequences {
  std::int64_t rows = 0;
  std::int64_t past = 0;
  std::int64_t memory_rows = 0;
};
std::vector<Sequence> sequences(std::int64_t batch, const EqualSequences& each);

template <std::size_t kCount>
std::array<std::int64_t, kCount> values(const LayerSample::Sizes& sizes) {
  std::array<std::int64_t, kCount> result;
  std::copy_n(sizes.begin(), kCount, result.begin());
  return result;
}

// A sample with a state.
class SampleRun {
 public:
  SampleRun(Sample sample, int threads);

  std::span<const Tensor> run() { return executor_.run(inputs_, state_); }

 private:
  Executor executor_;
  RunState state_;
  std::vector<Tensor> inputs_;
};

}  // namespace encdec::bench
