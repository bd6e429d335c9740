#include "long_inputs/image_self_attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "encdec/engine/base/error.h"
#include "encdec/engine/row_sharing.h"
#include "encdec/layers/transformer/expectations.h"

namespace lessons {
namespace {

// Number of queries in a part of an image. Each part copies all keys and values to scratch again,
// so smaller parts would cost more than they gain.
constexpr int kPartQueries = 256;

// Returns C'; the default is C / 8, as in the paper.
Dim key_channels(const ImageSelfAttentionOptions& options) {
  return options.key_channels == 0 ? options.channels / 8 : options.key_channels;
}

// Returns C''; the default is C if the output is direct, else C / 8.
Dim value_channels(const ImageSelfAttentionOptions& options) {
  const bool direct = options.output == ImageAttentionOutput::direct;
  if (options.value_channels == 0) return direct ? options.channels : options.channels / 8;
  if (direct && options.value_channels != options.channels) {
    throw ConfigError(fmt::format("image_self_attention: {} value channels without an output projection, expected {}",
                                  options.value_channels, options.channels));
  }
  return options.value_channels;
}

// Returns options for one head with unscaled scores. Throws ConfigError for less than 1 channel.
AttentionOptions attention_options(const ImageSelfAttentionOptions& options) {
  if (options.channels < 1 || key_channels(options) < 1 || value_channels(options) < 1) {
    throw ConfigError(fmt::format("image_self_attention: {} channels, {} of keys and {} of values, expected 1 or more",
                                  options.channels, key_channels(options), value_channels(options)));
  }
  return {.model_dim = options.channels, .heads = 1, .head_dim = key_channels(options), .score_scale = 1.0f};
}

// Splits each image's queries into parts of kPartQueries; the last part may be larger. Every part
// attends to the whole image. Threads share the parts. With an observer, only one part's weights
// are in memory at a time. With one thread and no observer, an image is one part.
std::span<const Sequence> parts_of_images(int images, int positions, RunState& state) {
  std::vector<Sequence>& parts = state.sequence_scratch();
  parts.clear();
  const bool alone = state.team().size() == 1 && !state.attention_observer();
  const int count = alone ? 1 : std::max(positions / kPartQueries, 1);
  for (int image = 0; image < images; ++image) {
    for (int part = 0; part < count; ++part) {
      const int first = part * kPartQueries, end = part + 1 == count ? positions : first + kPartQueries;
      parts.push_back({.first_row = image * positions + first,
                       .rows = end - first,
                       .first_source_row = image * positions,
                       .source_rows = positions});
    }
  }
  return parts;
}

}  // namespace

ImageSelfAttention::ImageSelfAttention(const WeightScope& weights, const ImageSelfAttentionOptions& options)
    : channels_(options.channels),
      attention_(attention_options(options)),
      query_key_(std::array{weights / "query", weights / "key"},
                 {.input_width = options.channels, .output_width = key_channels(options), .bias = options.bias}),
      value_(weights / "value",
             {.input_width = options.channels, .output_width = value_channels(options), .bias = options.bias}) {
  if (options.output == ImageAttentionOutput::projected) {
    output_.emplace(
        weights / "output",
        LinearOptions{.input_width = value_channels(options), .output_width = options.channels, .bias = options.bias});
  }
  gamma_ = *weights.tensor("gamma", {1}).data<float>();
}

Shape ImageSelfAttention::output_shape(Shapes inputs) const {
  expect_count(inputs, 1);
  if (inputs[0].rank() != 4 || inputs[0].last() != channels_) {
    throw ShapeError(
        fmt::format("input has shape {}, expected [batch, height, width, {}]", to_string(inputs[0]), channels_));
  }
  return inputs[0];
}

void ImageSelfAttention::forward(Inputs inputs, Tensor& output, RunState& state) const {
  const int images = static_cast<int>(inputs[0].shape()[0]);
  const int positions = static_cast<int>(inputs[0].shape()[1] * inputs[0].shape()[2]);
  const Dim rows = inputs[0].rows(), key_width = attention_.head_dim, value_width = value_.output_width();
  const Tensor x = inputs[0].reshape({rows, channels_});
  Tensor y = output.reshape({rows, channels_});
  // Project all pixels to queries, keys and values.
  Tensor query_key = state.scratch({rows, 2 * key_width});
  Tensor values = state.scratch({rows, value_width});
  query_key_.apply(x, nullptr, query_key, state);
  value_.apply(x, nullptr, values, state);

  // Attend within each image; a direct output is written to y.
  Tensor attended = output_.has_value() ? state.scratch({rows, value_width}) : y;
  attend_heads(attention_, parts_of_images(images, positions, state), state, [&](const Sequence& part) {
    return kernels::HeadAttention{
        .query = query_key.row(part.first_row),
        .query_stride = 2 * key_width,
        .output = attended.row(part.first_row),
        .output_stride = value_width,
        .keys = {.data = query_key.row(part.first_source_row) + key_width, .stride = 2 * key_width},
        .values = {.data = values.row(part.first_source_row), .stride = value_width},
        .query_count = part.rows,
        .key_count = part.source_rows,
        .value_dim = static_cast<int>(value_width)};
  });
  // y = gamma * output + x
  if (output_.has_value()) output_->apply(attended, nullptr, y, state);
  for_each_row(y, state.team(), [&](int row) {
    const float* from = x.row(row);
    float* to = y.row(row);
    for (Dim c = 0; c < channels_; ++c) to[c] = gamma_ * to[c] + from[c];
  });
}

}  // namespace lessons
