#pragma once

#include <optional>
#include <string_view>

namespace encdec {

// Parses a JSON number with the rounding of Rust's serde_json, which tokenizers uses to read scores. The result can be
// one double away from the nearest. With the same rounding, nearly equal sums of scores compare as in tokenizers.
// Returns nullopt for a number beyond the range of double.
std::optional<double> read_serde_number(std::string_view json);

}  // namespace encdec
