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

// Returns small pseudo-random values. The values do not affect the speed, unless they are denormal.
Tensor noise(const Shape& shape);
// Returns ids, int32 [count], that are spread over the vocabulary.
Tensor token_ids(std::int64_t count, Dim vocabulary);

inline double bytes_of(std::int64_t floats) {
  return static_cast<double>(floats) * sizeof(float);
}

using WeightShapes = std::map<std::string, Shape>;  // by name
// Returns weights with these names and shapes, filled with noise().
std::shared_ptr<const WeightStore> random_store(const WeightShapes& shapes);
// Returns a scope of such weights, in which each weight keeps its name.
WeightScope random_weights(const WeightShapes& shapes, const PackOptions& pack);

// Return the weights of parts of layers.
WeightShapes projection_weights(Dim out, Dim in);
WeightShapes norm_weights(Dim width);
WeightShapes attention_weights(Dim model_dim);
WeightShapes feed_forward_weights(Dim model_dim, Dim hidden_dim);
// Adds `shapes` to `all`, with the prefix `name` and a dot.
void add_weights(WeightShapes& all, const std::string& name, const WeightShapes& shapes);

struct MatMulShape {
  std::int64_t rows;
  Dim input_width;
  Dim output_width;
};

// The work of one run of a layer. A layer that only moves data sets only `moved_bytes`.
struct Work {
  std::vector<MatMulShape> matmuls = {};
  double attention_operations = 0;
  double moved_bytes = 0;

  double operations() const;
  double weight_bytes(Precision precision) const;
};

// Returns the number of operations in attention, without projections: for each query, key and column, one multiply-add
// for the score and one multiply-add for the weighted value.
template <class Queries, class Keys>
double attention_operations(Queries queries, Keys keys, Dim model_dim) {
  return 4.0 * static_cast<double>(queries) * static_cast<double>(keys) * static_cast<double>(model_dim);
}

// A graph to run repeatedly, its inputs, and the work of one run.
struct Sample {
  Graph graph;
  std::vector<Tensor> inputs;
  Work work;
  std::vector<Sequence> sequences = {};
};

// A layer in several sizes, the smallest first. Each layer of transformer_layers() has a benchmark, and a test that the
// layer does not allocate memory after its first runs.
struct LayerSample {
  using Sizes = std::vector<std::int64_t>;

  std::string name;
  std::vector<std::string> size_names;
  std::vector<Sizes> sizes;
  std::function<Sample(const Sizes& sizes, const PackOptions& pack)> make;
};

std::vector<LayerSample> transformer_layers();

// Returns a sample whose graph consists of this layer and its inputs.
Sample one_layer(std::shared_ptr<const Layer> layer, std::vector<Tensor> inputs, Work work,
                 std::vector<Sequence> sequences = {});

// The sizes of a batch of equal sequences.
struct EqualSequences {
  std::int64_t rows = 0;
  std::int64_t past = 0;         // earlier rows, in the key/value cache
  std::int64_t source_rows = 0;  // rows of encoder output
};
// Returns `batch` sequences with consecutive rows.
std::vector<Sequence> sequences(std::int64_t batch, const EqualSequences& each);

template <std::size_t kCount>
std::array<std::int64_t, kCount> values(const LayerSample::Sizes& sizes) {
  std::array<std::int64_t, kCount> result;
  std::copy_n(sizes.begin(), kCount, result.begin());
  return result;
}

// A sample with an executor and state, to run repeatedly.
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
