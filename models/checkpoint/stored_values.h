#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "encdec/engine/base/weights.h"

namespace encdec {

// Settings that some formats store among the weights. Both functions return nullopt if no tensor has this name, and
// throw WeightError if the tensor is of another kind.

// Returns a tensor of one element as a number; a boolean is 0 or 1.
std::optional<double> scalar(const WeightStore& store, std::string_view name);

// Returns the bytes of a tensor, int8 [N] or uint8 [N], as text without the zeros at its end.
std::optional<std::string> text(const WeightStore& store, std::string_view name);

}  // namespace encdec
