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

nlohmann::ordered_json to_array(std::span<const TokenScore> tokens) {
  nlohmann::ordered_json array = nlohmann::ordered_json::array();
  for (const TokenScore& score : tokens) {
    array.push_back({{"token", score.token}, {"log_probability", short_number(score.log_probability)}});
  }
  return array;
}

std::string to_text(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace encdec::cli
