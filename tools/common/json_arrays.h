#pragma once

#include <encdec/models/generation/generate_options.h>

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

namespace encdec::cli {

// Returns the double that prints with the float's shortest digits: 0.1, not 0.10000000149011612. NaN and infinity
// become null in JSON.
double short_number(float value);
// Returns an array of numbers.
nlohmann::ordered_json to_array(std::span<const float> values);
// Returns [{"token", "log_probability"}].
nlohmann::ordered_json to_array(std::span<const TokenScore> tokens);

// Returns JSON as one line. Bytes that are not UTF-8 are replaced.
std::string to_text(const nlohmann::ordered_json& json);

}  // namespace encdec::cli
