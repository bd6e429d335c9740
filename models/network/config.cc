#include "encdec/models/network/config.h"

#include <fmt/ranges.h>

#include <ranges>

namespace encdec {
namespace {

constexpr std::array kActivations = {
    Named{Activation::relu, "relu"},
    Named{Activation::gelu, "gelu"},
    Named{Activation::gelu_tanh, "gelu_new"},
    Named{Activation::gelu_tanh, "gelu_fast"},
    Named{Activation::gelu_tanh, "gelu_pytorch_tanh"},
    Named{Activation::gelu_sigmoid, "quick_gelu"},
    Named{Activation::tanh, "tanh"},
    Named{Activation::sigmoid, "sigmoid"},
    Named{Activation::silu, "silu"},
    Named{Activation::silu, "swish"},
    Named{Activation::identity, "linear"},
};

}  // namespace

std::optional<Activation> activation_named(std::string_view name) {
  return value_named<Activation>(kActivations, name);
}

std::string activation_names() {
  return fmt::format("{}", fmt::join(names_of(kActivations), ", "));
}

Dim FrameOptions::rows_of(Dim frames) const {
  if (!reads_samples()) return frames % per_row == 0 ? frames / per_row : 0;
  for (const Window& window : windows) frames = window.outputs(frames);
  return frames;
}

Dim FrameOptions::frames_for(Dim rows) const {
  if (!reads_samples()) return rows * per_row;
  for (const auto& [kernel, stride] : windows | std::views::reverse) rows = (rows - 1) * stride + kernel;
  return rows;
}

std::string FrameOptions::expected_shape(Dim most_rows) const {
  const Dim largest = reads_samples() ? frames_for(most_rows + 1) - 1 : most_rows * per_row;
  const std::string most =
      most_rows > 0 ? fmt::format("{} to {}", frames_for(1), largest) : fmt::format("{} or more", frames_for(1));
  return reads_samples() ? fmt::format("[{}, {}]", most, width)
                         : fmt::format("[{}, a multiple of {}; {}]", most, per_row, width);
}

NormOptions StackConfig::norm_of(Dim width) const {
  NormOptions options = norm;
  options.width = width;
  return options;
}

AttentionOptions StackConfig::attention_of(int layer) const {
  AttentionOptions options = layer_attention.empty() ? attention : layer_attention[static_cast<std::size_t>(layer)];
  options.model_dim = model_dim;
  options.residual = residual();
  return options;
}

}  // namespace encdec
