#include "common/json_arrays.h"

#include <encdec/models/checkpoint/written_json.h>
#include <fmt/format.h>

#include <cstdlib>
#include <utility>

namespace encdec::cli {

double short_number(float value) {
  return std::strtod(fmt::format("{}", value).c_str(), nullptr);
}

WrittenJson to_array(std::span<const float> values) {
  WrittenJson array = WrittenJson::array();
  for (const float value : values) array.push_back(short_number(value));
  return array;
}

WrittenJson to_array(std::span<const TokenScore> tokens) {
  WrittenJson array = WrittenJson::array();
  for (const TokenScore& score : tokens) {
    array.push_back({{"token", score.token}, {"log_probability", short_number(score.log_probability)}});
  }
  return array;
}

WrittenJson to_array(const std::vector<std::vector<TokenScore>>& places) {
  WrittenJson array = WrittenJson::array();
  for (const auto& place : places) array.push_back(to_array(std::span(place)));
  return array;
}

}  // namespace encdec::cli
