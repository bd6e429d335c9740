#include "encdec/models/network/config.h"

#include <fmt/ranges.h>

namespace encdec {
namespace {

// Names of activations in transformers (src/transformers/activations.py).
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

NormOptions StackConfig::norm_of(Dim width) const {
  NormOptions options = norm;
  options.width = width;
  return options;
}

AttentionOptions StackConfig::attention_of(int layer) const {
  AttentionOptions options = layer_attention.empty() ? attention : layer_attention[static_cast<std::size_t>(layer)];
  options.model_dim = model_dim;
  return options;
}

}  // namespace encdec
