#pragma once

#include <optional>
#include <string_view>

namespace encdec {

// A JSON number with the value that Rust's serde_json gives it, which tokenizers reads its scores with: sometimes the
// double next to the nearest one. Sums of scores that are nearly equal come out as there. nullopt beyond double's
// range.
std::optional<double> read_serde_number(std::string_view json);

}  // namespace encdec
