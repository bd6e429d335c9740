// Benchmarks of attention to long inputs and images.
#include <encdec/layers/lessons/long_inputs/image_self_attention.h>
#include <encdec/layers/lessons/long_inputs/local_attention.h>
#include <encdec/layers/lessons/long_inputs/memory_compressed_attention.h>
#include <encdec/layers/transformer/multi_head_attention.h>

#include "bench/samples.h"

namespace encdec::bench {
namespace {

using Sizes = LayerSample::Sizes;

constexpr AttentionOptions kAttention{.model_dim = 512, .heads = 8};

// Returns a sample of layer L with one sequence. A row attends to `keys` keys on average. `shapes` are the layer's
// weights beside its projections.
template <class L, class Options>
Sample long_input(std::int64_t length, double keys, const Options& options, WeightShapes shapes,
                  const PackOptions& pack) {
  const Dim model = kAttention.model_dim;
  shapes.merge(attention_weights(model));
  return one_layer(std::make_shared<L>(random_weights(shapes, pack), options), {noise({length, model})},
                   {.matmuls = {{length, model, 3 * model}, {length, model, model}},
                    .attention_operations = attention_operations(length, keys, model)},
                   sequences(1, {.rows = length}));
}

Sample all_keys(const Sizes& sizes, const PackOptions& pack) {
  return long_input<MultiHeadAttention>(sizes[0], static_cast<double>(sizes[0]), kAttention, {}, pack);
}

template <WindowSides sides>
Sample local_attention(const Sizes& sizes, const PackOptions& pack) {
  const auto [length, window] = values<2>(sizes);
  // A row attends to its own key and to `window` keys on each side, except those beyond the ends of the sequence.
  const double cut_off = static_cast<double>(window * (window + 1)) / 2.0 / static_cast<double>(length);
  const double side = static_cast<double>(window) - cut_off;
  return long_input<LocalAttention>(
      length, 1.0 + (sides == WindowSides::both ? 2.0 : 1.0) * side,
      LocalAttentionOptions{.attention = kAttention, .window = static_cast<int>(window), .sides = sides}, {}, pack);
}

Sample memory_compressed_attention(const Sizes& sizes, const PackOptions& pack) {
  const auto [length, stride] = values<2>(sizes);
  const std::int64_t keys = (length + stride - 1) / stride;
  const Dim model = kAttention.model_dim;
  WeightShapes shapes;
  for (const char* name : {"key_convolution", "value_convolution"}) {
    add_weights(shapes, name, {{"weight", {model, model, stride}}, {"bias", {model}}});
  }
  Sample sample = long_input<MemoryCompressedAttention>(
      length, static_cast<double>(keys),
      MemoryCompressedAttentionOptions{.attention = kAttention, .kernel = stride, .stride = stride}, shapes, pack);
  sample.work.matmuls.insert(sample.work.matmuls.end(), 2, {keys, stride * model, model});
  return sample;
}

Sample image_self_attention(const Sizes& sizes, const PackOptions& pack) {
  const auto [side, channels] = values<2>(sizes);
  const Dim eighth = channels / 8;
  const std::int64_t positions = side * side;
  const WeightScope weights = random_weights({{"query.weight", {eighth, channels}},
                                              {"key.weight", {eighth, channels}},
                                              {"value.weight", {eighth, channels}},
                                              {"output.weight", {channels, eighth}},
                                              {"gamma", {1}}},
                                             pack);
  return one_layer(std::make_shared<ImageSelfAttention>(weights, ImageSelfAttentionOptions{.channels = channels}),
                   {noise({1, side, side, channels})},
                   {.matmuls = {{positions, channels, 3 * eighth}, {positions, eighth, channels}},
                    .attention_operations =
                        attention_operations(static_cast<double>(positions), static_cast<double>(positions), eighth)});
}

}  // namespace

std::vector<LayerSample> long_input_layers() {
  const std::vector<Sizes> windows{{512, 32}, {4096, 32}, {512, 128}, {4096, 128}};
  return {
      {"LongInput/MultiHeadAttention", {"T"}, {{512}, {4096}}, all_keys},
      {"LongInput/LocalAttention", {"T", "window"}, windows, local_attention<WindowSides::both>},
      {"LongInput/LocalAttention/before", {"T", "window"}, windows, local_attention<WindowSides::before>},
      {"LongInput/MemoryCompressedAttention", {"T", "stride"}, {{512, 3}, {4096, 3}}, memory_compressed_attention},
      {"ImageSelfAttention", {"side", "C"}, {{32, 256}, {64, 64}, {64, 256}}, image_self_attention},
  };
}

}  // namespace encdec::bench
