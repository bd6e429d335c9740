#include <algorithm>
#include <array>
#include <utility>

#include "encdec/models/network/config.h"

namespace encdec {
namespace {

constexpr std::array<std::pair<std::string_view, Activation>, 11> kActivations = {{
    {"relu", Activation::relu},
    {"gelu", Activation::gelu},
    {"gelu_new", Activation::gelu_tanh},
    {"gelu_fast", Activation::gelu_tanh},
    {"gelu_pytorch_tanh", Activation::gelu_tanh},
    {"quick_gelu", Activation::gelu_sigmoid},
    {"tanh", Activation::tanh},
    {"sigmoid", Activation::sigmoid},
    {"silu", Activation::silu},
    {"swish", Activation::silu},
    {"linear", Activation::identity},
}};

}  // namespace

std::optional<Activation> activation_named(std::string_view name) {
  const auto found = std::ranges::find(kActivations, name, [](const auto& known) { return known.first; });
  return found == kActivations.end() ? std::nullopt : std::optional(found->second);
}

std::string activation_names() {
  std::string names;
  for (const auto& [known, activation] : kActivations) {
    if (!names.empty()) names += ", ";
    names += known;
  }
  return names;
}

}  // namespace encdec
