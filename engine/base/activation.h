#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace encdec {

// Functions applied to each element:
//   relu          max(x, 0)
//   gelu          x * Phi(x), exact (Hendrycks & Gimpel 2016)
//   gelu_tanh     the tanh approximation of gelu
//   gelu_sigmoid  x * sigmoid(1.702 x), another approximation of gelu
//   silu          x * sigmoid(x), also called swish
enum class Activation : std::uint8_t { identity, relu, gelu, gelu_tanh, gelu_sigmoid, silu, tanh, sigmoid };

// Returns the function's name: "relu".
constexpr std::string_view to_string(Activation activation) {
  constexpr std::string_view kNames[] = {"identity",     "relu", "gelu", "gelu_tanh",
                                         "gelu_sigmoid", "silu", "tanh", "sigmoid"};
  return kNames[static_cast<std::size_t>(activation)];
}

}  // namespace encdec
