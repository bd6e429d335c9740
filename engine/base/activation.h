#pragma once

#include <cstdint>
#include <string_view>

namespace encdec {

// Functions applied to each element: relu(x) = max(x, 0); gelu is x * Phi(x), exact, by its tanh approximation, or by
// x * sigmoid(1.702 x) (Hendrycks & Gimpel 2016); silu is x * sigmoid(x), also called swish.
enum class Activation : std::uint8_t { identity, relu, gelu, gelu_tanh, gelu_sigmoid, silu, tanh, sigmoid };

std::string_view to_string(Activation activation);

}  // namespace encdec
