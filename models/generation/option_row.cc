#include "encdec/models/generation/option_row.h"

#include <fmt/format.h>

#include "encdec/engine/base/error.h"

namespace encdec {

std::string OptionRange::expected() const {
  return fmt::format("{}a number from {} to {}", or_zero ? "0, or " : "", min, max);
}
std::string OptionRange::expected_integer() const {
  return fmt::format("an integer from {} to {}", static_cast<std::int64_t>(min), static_cast<std::int64_t>(max));
}

void OptionRange::check(std::string_view name, double value) const {
  if (!has(value)) throw ConfigError(fmt::format("{} is {}, expected {}", name, value, expected()));
}
void OptionRange::check(std::string_view name, std::int64_t value) const {
  if (!has(static_cast<double>(value)))
    throw ConfigError(fmt::format("{} is {}, expected {}", name, value, expected_integer()));
}

std::vector<std::string> choices_of(std::string_view type) {
  std::vector<std::string> words(1);
  for (const char c : type) {
    c == '|' ? static_cast<void>(words.emplace_back()) : words.back().push_back(c);
  }
  return words;
}

}  // namespace encdec
