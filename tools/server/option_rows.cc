#include "server/option_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace encdec::serve {
namespace {

// Reads an integer. In a form, -1 keeps the default, because clients of whisper.cpp send -1 for the default.
std::optional<int> read_integer(const Parameters& parameters, const std::string& name, const OptionRange& range) {
  if (parameters.is_form() && parameters.text(name) == "-1") return std::nullopt;
  return parameters.integer(name, static_cast<int>(range.min), static_cast<int>(range.max));
}

// Returns the index of the parameter's value among the option's words; nullopt if the parameter is missing.
std::optional<std::uint8_t> read_word(const Parameters& parameters, const std::string& name, const OptionInfo& row) {
  const std::string text = parameters.text(name);
  if (text.empty()) return std::nullopt;
  const std::vector<std::string> words = row.words();
  const auto found = std::ranges::find(words, text);
  if (found != words.end()) return static_cast<std::uint8_t>(found - words.begin());
  throw HttpError(400, fmt::format("'{}' is '{}', expected {}", name, shown(text), fmt::join(words, " or ")));
}

// Reads numbers separated by commas: "1,2.5".
template <class Number>
void read_list(const Parameters& parameters, const std::string& name, const OptionRange& range,
               std::vector<Number>& value) {
  if (!parameters.has(name)) return;
  const std::string text = parameters.short_text(name);
  std::vector<Number> numbers;
  for (const char *at = text.data(), *const end = at + text.size(); at != end;) {
    Number& number = numbers.emplace_back();
    const auto [stop, error] = std::from_chars(at, end, number);
    const bool is_whole = error == std::errc() && (stop == end || (*stop == ',' && stop + 1 != end));
    if (!is_whole || !range.has(number)) {
      throw HttpError(400, fmt::format("'{}' is '{}', expected numbers from {} to {} separated by commas", name,
                                       shown(text), range.min, range.max));
    }
    at = stop == end ? end : stop + 1;
  }
  value = std::move(numbers);
}

// Reads the option from the parameter `name`.
template <class T>
void read(const Parameters& parameters, const std::string& name, const OptionInfo& row, T& value) {
  const auto set = [&value](auto given) {
    if (given) value = static_cast<T>(*given);
  };
  if constexpr (std::is_same_v<T, bool>) {
    // A name that begins with '!' sets the opposite of the option.
    const bool is_opposite = name.starts_with('!');
    value = parameters.flag(name.substr(is_opposite ? 1 : 0), value != is_opposite) != is_opposite;
  } else if constexpr (std::is_same_v<T, int> || std::is_same_v<T, std::optional<int>>) {
    set(read_integer(parameters, name, row.range));
  } else if constexpr (std::is_same_v<T, std::uint64_t>) {
    set(read_integer(parameters, name, {0, std::numeric_limits<int>::max()}));
  } else if constexpr (std::is_same_v<T, double>) {
    set(parameters.real(name, row.range));
  } else if constexpr (std::is_same_v<T, std::optional<double>>) {
    // "none" unsets the option.
    const bool is_none = parameters.has(name) && parameters.text(name) == "none";
    is_none ? value.reset() : set(parameters.real(name, row.range));
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (std::string text = parameters.short_text(name); !text.empty()) value = std::move(text);
  } else if constexpr (std::is_same_v<T, std::uint8_t>) {
    set(read_word(parameters, name, row));
  } else if constexpr (std::is_same_v<T, std::vector<double>> || std::is_same_v<T, TokenIds>) {
    read_list(parameters, name, row.range, value);
  }
}

}  // namespace

void read_option(const Parameters& parameters, const OptionInfo& row, OptionValue value) {
  for (const std::string_view name : row.names()) {
    std::visit([&](auto* to) { read(parameters, std::string(name), row, *to); }, value);
  }
}

}  // namespace encdec::serve
