#pragma once

#include <encdec/models/classification/tagger.h>
#include <encdec/models/generation/generate_options.h>

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

namespace encdec::cli {

// Returns the double that prints with the float's shortest digits: 0.1, not 0.10000000149011612. NaN and infinity
// become null in JSON.
double short_number(float value);
// Returns an array of numbers.
nlohmann::ordered_json to_array(std::span<const float> values);
// Returns [{"entity", "score", "index", "word", "start", "end", "start_byte", "end_byte"}] with the names of
// transformers' pipeline; aggregated "entity_group" instead of "entity", and no "index".
nlohmann::ordered_json to_array(std::span<const Entity> entities, Aggregation aggregation);
// Returns [{"token", "log_probability"}].
nlohmann::ordered_json to_array(std::span<const TokenScore> tokens);
// Returns [[{"token", "log_probability"}]].
nlohmann::ordered_json to_array(const std::vector<std::vector<TokenScore>>& places);

}  // namespace encdec::cli
