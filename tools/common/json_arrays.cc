#include "common/json_arrays.h"

#include <fmt/format.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

namespace encdec::cli {

double short_number(float value) {
  return std::strtod(fmt::format("{}", value).c_str(), nullptr);
}

nlohmann::ordered_json to_array(std::span<const float> values) {
  nlohmann::ordered_json array = nlohmann::ordered_json::array();
  for (const float value : values) array.push_back(short_number(value));
  return array;
}

nlohmann::ordered_json to_array(std::span<const Entity> entities, Aggregation aggregation) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Entity& entity : entities) {
    nlohmann::ordered_json& item = list.emplace_back(nlohmann::ordered_json::object());
    const bool is_token = aggregation == Aggregation::none;
    item[is_token ? "entity" : "entity_group"] = entity.label;
    item["score"] = short_number(entity.score);
    if (is_token) item["index"] = entity.token;
    item["word"] = entity.word;
    item["start"] = entity.characters.begin;
    item["end"] = entity.characters.end;
    item["start_byte"] = entity.bytes.begin;
    item["end_byte"] = entity.bytes.end;
  }
  return list;
}

nlohmann::ordered_json to_array(std::span<const TokenScore> tokens) {
  nlohmann::ordered_json array = nlohmann::ordered_json::array();
  for (const TokenScore& score : tokens) {
    array.push_back({{"token", score.token}, {"log_probability", short_number(score.log_probability)}});
  }
  return array;
}

nlohmann::ordered_json to_array(const std::vector<std::vector<TokenScore>>& places) {
  nlohmann::ordered_json array = nlohmann::ordered_json::array();
  for (const auto& place : places) array.push_back(to_array(std::span(place)));
  return array;
}

}  // namespace encdec::cli
