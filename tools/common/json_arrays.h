#pragma once

#include <encdec/models/generation/generate_options.h>

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

namespace encdec::cli {

// Returns the double that prints with the float's shortest digits: 0.1, not 0.10000000149011612. JSON writes NaN and
// infinity as null.
double short_number(float value);
nlohmann::ordered_json to_array(std::span<const float> values);
// Returns [{"token", "log_probability"}].
nlohmann::ordered_json to_array(std::span<const TokenScore> tokens);

// Writes JSON on one line. Replaces bytes that are not UTF-8.
std::string to_text(const nlohmann::ordered_json& json);

}  // namespace encdec::cli
