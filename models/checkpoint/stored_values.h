#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "encdec/engine/base/weights.h"

namespace encdec {

// Settings that some formats keep among the weights. Both give nullopt where nothing has this name, and throw
// WeightError where it is something else.

// A tensor of one element as a number; booleans are 0 and 1.
std::optional<double> scalar(const WeightStore& store, std::string_view name);

// Bytes, int8 [N] or uint8 [N], as text: zeros at the end are left out.
std::optional<std::string> text(const WeightStore& store, std::string_view name);

}  // namespace encdec
