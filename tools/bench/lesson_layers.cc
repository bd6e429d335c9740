// Benchmarks of layers that no checkpoint needs.
#include <encdec/layers/lessons/concatenated_positions.h>
#include <encdec/layers/lessons/one_hot.h>
#include <encdec/layers/lessons/timestep_encoding.h>
#include <encdec/layers/transformer/linear.h>

#include "bench/samples.h"

namespace encdec::bench {
namespace {

using Sizes = LayerSample::Sizes;

// An embedding that is computed as a product with one-hot vectors, instead of a lookup.
Sample one_hot(const Sizes& sizes, const PackOptions& pack) {
  const auto [rows, model, vocabulary] = values<3>(sizes);
  const LinearOptions options{.input_width = vocabulary, .output_width = model, .bias = Bias::none};
  Graph graph("sample");
  const Edge ids = graph.input("ids", {rows}, DataType::int32);
  const Edge tokens = graph.add("one_hot", std::make_shared<OneHot>(vocabulary), {ids});
  graph.output(graph.add(
      "table", std::make_shared<Linear>(random_weights({{"weight", {model, vocabulary}}}, pack), options), {tokens}));
  return {std::move(graph), {token_ids(rows, vocabulary)}, {.matmuls = {{rows, vocabulary, model}}}};
}

Sample concatenated_positions(const Sizes& sizes, const PackOptions& pack) {
  const auto [batch, length, model] = values<3>(sizes);
  const std::int64_t rows = batch * length;
  const ConcatenatedPositionOptions options{
      .input_width = model, .output_width = model, .positions = {.model_dim = model}};
  return one_layer(
      std::make_shared<ConcatenatedPositions>(random_weights(projection_weights(model, 2 * model), pack), options),
      {noise({rows, model})}, {.matmuls = {{rows, 2 * model, model}}}, sequences(batch, {.rows = length}));
}

Sample timestep_encoding(const Sizes& sizes, const PackOptions&) {
  const auto [batch, length, model] = values<3>(sizes);
  return one_layer(std::make_shared<TimestepEncoding>(SinusoidLayout::halves, model),
                   {noise({batch * length, model}), token_ids(1, 6)},
                   {.moved_bytes = 2 * bytes_of(batch * length * model)});
}

}  // namespace

std::vector<LayerSample> lesson_layers() {
  const std::vector<Sizes> row_sizes{{1, 32, 512}, {32, 32, 512}};
  std::vector<LayerSample> all{
      {"OneHotLinear", {"T", "D", "V"}, {{32, 512, 1000}, {32, 512, 32000}}, one_hot},
      {"ConcatenatedPositions", {"B", "T", "D"}, row_sizes, concatenated_positions},
      {"TimestepEncoding", {"B", "T", "D"}, row_sizes, timestep_encoding},
  };
  for (const auto& layers : {dense_attention_layers(), long_input_layers()}) {
    all.insert(all.end(), layers.begin(), layers.end());
  }
  return all;
}

}  // namespace encdec::bench
