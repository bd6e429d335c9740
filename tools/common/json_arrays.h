#pragma once

#include <encdec/models/checkpoint/written_json_fwd.h>
#include <encdec/models/generation/generate_options.h>

#include <span>
#include <vector>

namespace encdec::cli {

// The double with the float's shortest digits: 0.1, not 0.10000000149011612. What is not a number is null in JSON.
double short_number(float value);
WrittenJson to_array(std::span<const float> values);
// [{"token", "log_probability"}]
WrittenJson to_array(std::span<const TokenScore> tokens);
// [[{"token", "log_probability"}]]
WrittenJson to_array(const std::vector<std::vector<TokenScore>>& places);

}  // namespace encdec::cli
