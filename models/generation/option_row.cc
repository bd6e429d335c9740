#include "encdec/models/generation/option_row.h"

namespace encdec {

std::string OptionRange::expected() const {
  return fmt::format("{}a number from {} to {}", or_zero ? "0, or " : "", min, max);
}
std::string OptionRange::expected_integer() const {
  return fmt::format("an integer from {} to {}", static_cast<std::int64_t>(min), static_cast<std::int64_t>(max));
}

std::vector<std::string_view> OptionInfo::names() const {
  std::vector<std::string_view> names{name};
  for (const std::string_view other : other_names) {
    if (!other.empty()) names.push_back(other);
  }
  return names;
}

std::vector<std::string> OptionInfo::words() const {
  std::vector<std::string> words(1);
  for (const char c : type) {
    c == '|' ? static_cast<void>(words.emplace_back()) : words.back().push_back(c);
  }
  return words;
}

}  // namespace encdec
