// Benchmarks of single layers of Transformers.
#include <encdec/layers/transformer/add_norm.h>
#include <encdec/layers/transformer/cross_attention.h>
#include <encdec/layers/transformer/embedding.h>
#include <encdec/layers/transformer/feed_forward.h>
#include <encdec/layers/transformer/linear.h>
#include <encdec/layers/transformer/masked_decoder_attention.h>
#include <encdec/layers/transformer/multi_head_attention.h>
#include <encdec/layers/transformer/positional_encoding.h>

#include <cmath>
#include <utility>

#include "bench/samples.h"

namespace encdec::bench {
namespace {

using Sizes = LayerSample::Sizes;

// Each function below makes the sample of one benchmark, from the sizes that transformer_layers() names.

AttentionOptions attention(Dim model, std::int64_t heads) {
  return {.model_dim = model, .heads = static_cast<int>(heads)};
}

Sample linear(const Sizes& sizes, const PackOptions& pack) {
  const auto [rows, in, out] = values<3>(sizes);
  const LinearOptions options{.input_width = in, .output_width = out};
  return one_layer(std::make_shared<Linear>(random_weights(projection_weights(out, in), pack), options),
                   {noise({rows, in})}, {.matmuls = {{rows, in, out}}});
}

Sample feed_forward(const Sizes& sizes, const PackOptions& pack) {
  const auto [batch, length, model, hidden] = values<4>(sizes);
  const std::int64_t rows = batch * length;
  const FeedForwardOptions options{.model_dim = model, .hidden_dim = hidden, .activation = Activation::relu};
  return one_layer(std::make_shared<FeedForward>(random_weights(feed_forward_weights(model, hidden), pack), options),
                   {noise({rows, model})}, {.matmuls = {{rows, model, hidden}, {rows, hidden, model}}});
}

Sample self_attention(const Sizes& sizes, const PackOptions& pack, const RelativePositions& relative_positions) {
  const auto [batch, length, model, heads] = values<4>(sizes);
  const std::int64_t rows = batch * length;
  AttentionOptions options = attention(model, heads);
  options.relative_positions = relative_positions;
  WeightShapes shapes = attention_weights(model);
  shapes["relative_position_bias.weight"] = {relative_positions.buckets, heads};
  return one_layer(std::make_shared<MultiHeadAttention>(random_weights(shapes, pack), options), {noise({rows, model})},
                   {.matmuls = {{rows, model, 3 * model}, {rows, model, model}},
                    .attention_operations = static_cast<double>(batch) * attention_operations(length, length, model)},
                   sequences(batch, {.rows = length}));
}

Sample multi_head_attention(const Sizes& sizes, const PackOptions& pack) {
  return self_attention(sizes, pack, {});
}

// Self-attention with relative positions, as in T5.
Sample relative_attention(const Sizes& sizes, const PackOptions& pack) {
  return self_attention(sizes, pack, {.buckets = 32, .max_distance = 128});
}

// Self-attention in one decoding step: one row for each sequence, at position T - 1.
Sample masked_decoder_attention(const Sizes& sizes, const PackOptions& pack) {
  const auto [batch, length, model, heads] = values<4>(sizes);
  return one_layer(
      std::make_shared<MaskedDecoderAttention>(random_weights(attention_weights(model), pack), attention(model, heads)),
      {noise({batch, model})},
      {.matmuls = {{batch, model, 3 * model}, {batch, model, model}},
       .attention_operations = static_cast<double>(batch) * attention_operations(1, length, model)},
      sequences(batch, {.rows = 1, .past = length - 1}));
}

// Cross-attention in one decoding step, over sources of S tokens.
Sample cross_attention(const Sizes& sizes, const PackOptions& pack) {
  const auto [batch, source, model, heads] = values<4>(sizes);
  const AttentionOptions options = attention(model, heads);
  const KeyValueLayout form = key_value_layout_of(options, pack.precision);
  return one_layer(std::make_shared<CrossAttention>(random_weights(attention_weights(model), pack), options),
                   {noise({batch, model}), Tensor::allocate({batch * source, 2 * model}, form.type)},
                   {.matmuls = {{batch, model, model}, {batch, model, model}},
                    .attention_operations = static_cast<double>(batch) * attention_operations(1, source, model)},
                   sequences(batch, {.rows = 1, .source_rows = source}));
}

// Computes the cross-attention keys and values of sources of S tokens.
Sample cross_attention_key_values(const Sizes& sizes, const PackOptions& pack) {
  const auto [batch, source, model] = values<3>(sizes);
  const std::int64_t rows = batch * source;
  return one_layer(
      std::make_shared<CrossAttentionKeyValues>(random_weights(attention_weights(model), pack), attention(model, 8)),
      {noise({rows, model})}, {.matmuls = {{rows, model, 2 * model}}},
      sequences(batch, {.rows = static_cast<int>(source)}));
}

Sample add_norm(const Sizes& sizes, const PackOptions& pack) {
  const auto [batch, length, model] = values<3>(sizes);
  const Shape shape{batch * length, model};
  return one_layer(std::make_shared<AddNorm>(random_weights(norm_weights(model), pack), NormOptions{.width = model}),
                   {noise(shape), noise(shape)}, {.moved_bytes = 3 * bytes_of(shape.elements())});
}

Sample embedding(const Sizes& sizes, const PackOptions& pack) {
  const auto [batch, length, model, vocabulary] = values<4>(sizes);
  const EmbeddingOptions options{
      .vocabulary = vocabulary, .model_dim = model, .scale = std::sqrt(static_cast<float>(model))};
  return one_layer(std::make_shared<Embedding>(random_weights({{"weight", {vocabulary, model}}}, pack), options),
                   {token_ids(batch * length, vocabulary)}, {.moved_bytes = 2 * bytes_of(batch * length * model)});
}

// Returns the sample of a layer that adds positions.
Sample positions(const Sizes& sizes, std::shared_ptr<const Layer> layer) {
  const auto [batch, length, model] = values<3>(sizes);
  const Shape shape{batch * length, model};
  return one_layer(std::move(layer), {noise(shape)}, {.moved_bytes = 3 * bytes_of(shape.elements())},
                   sequences(batch, {.rows = length}));
}

Sample positional_encoding(const Sizes& sizes, const PackOptions&) {
  return positions(sizes, std::make_shared<PositionalEncoding>(SinusoidLayout::halves, sizes[2]));
}

Sample learned_positions(const Sizes& sizes, const PackOptions& pack) {
  const PositionOptions options{.kind = PositionOptions::Kind::learned, .model_dim = sizes[2], .count = sizes[1]};
  return positions(sizes, std::make_shared<PositionalEncoding>(
                              random_weights({{"weight", {options.count, options.model_dim}}}, pack), options));
}

}  // namespace

// The sizes are typical of Transformer-base and Transformer-big (Vaswani et al. 2017).
std::vector<LayerSample> transformer_layers() {
  const std::vector<Sizes> attention_sizes{
      {1, 32, 512, 8}, {1, 512, 512, 8}, {32, 32, 512, 8}, {8, 128, 512, 8}, {1, 32, 1024, 16}};
  const std::vector<Sizes> linear_sizes{{1, 512, 512},   {8, 512, 512},   {32, 512, 512},   {512, 512, 512},
                                        {1, 512, 32000}, {8, 512, 32000}, {32, 512, 32000}, {512, 512, 32000}};
  const std::vector<Sizes> row_sizes{{1, 32, 512}, {32, 32, 512}};
  return {
      {"Linear", {"T", "K", "N"}, linear_sizes, linear},
      {"FeedForward",
       {"B", "T", "D", "F"},
       {{1, 1, 512, 2048}, {1, 32, 512, 2048}, {32, 1, 512, 2048}, {8, 128, 512, 2048}, {1, 32, 1024, 4096}},
       feed_forward},
      {"MultiHeadAttention", {"B", "T", "D", "H"}, attention_sizes, multi_head_attention},
      {"MultiHeadAttention/relative_positions", {"B", "T", "D", "H"}, attention_sizes, relative_attention},
      {"MaskedDecoderAttention",
       {"B", "T", "D", "H"},
       {{1, 1, 512, 8}, {1, 64, 512, 8}, {32, 64, 512, 8}, {1, 512, 512, 8}, {1, 64, 1024, 16}},
       masked_decoder_attention},
      {"CrossAttention", {"B", "S", "D", "H"}, {{1, 32, 512, 8}, {32, 32, 512, 8}, {1, 512, 512, 8}}, cross_attention},
      {"CrossAttentionKeyValues", {"B", "S", "D"}, row_sizes, cross_attention_key_values},
      {"AddNorm", {"B", "T", "D"}, {{1, 1, 512}, {1, 32, 512}, {32, 32, 512}, {1, 32, 1024}}, add_norm},
      {"Embedding", {"B", "T", "D", "V"}, {{1, 32, 512, 32000}, {32, 32, 512, 32000}}, embedding},
      {"PositionalEncoding", {"B", "T", "D"}, row_sizes, positional_encoding},
      {"PositionalEncoding/learned", {"B", "T", "D"}, row_sizes, learned_positions},
  };
}

}  // namespace encdec::bench
