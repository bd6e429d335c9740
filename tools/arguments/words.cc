#include "words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace encdec::cli {

CLI::Validator expecting(std::string expected, std::function<bool(const std::string&)> fits) {
  const auto check = [expected = std::move(expected), fits = std::move(fits)](const std::string& text) {
    return fits(text) ? std::string() : fmt::format("'{}', expected {}", text, expected);
  };
  return CLI::Validator(check, "", "");
}

CLI::Option* take_words(CLI::Option* option, const std::vector<std::string>& words) {
  const bool may_be_empty = option->get_expected_min() == 0;
  const auto fits = [words, may_be_empty](const std::string& text) {
    return (may_be_empty && text.empty()) || std::ranges::find(words, text) != words.end();
  };
  const std::string expected = fmt::format("{} or {}", fmt::join(words.begin(), words.end() - 1, ", "), words.back());
  const std::string type = fmt::format("{}", fmt::join(words, "|"));
  return option->check(expecting(expected, fits))->type_name(may_be_empty ? "[" + type + "]" : type);
}

}  // namespace encdec::cli
