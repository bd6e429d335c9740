#pragma once

#include <encdec/models/generation/option_row.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "serve/parameters.h"

namespace encdec::serve {

// Reads the options of rows from the parameters of a request, under all their names. An empty value counts as not
// given. Throws HttpError, 400, as Parameters does.
template <class Options>
class RowReader {
 public:
  RowReader(const Parameters& parameters, Options& options) : parameters_(parameters), options_(options) {}

  void read(const OptionRow<Options>& row) {
    const auto read_name = [&](std::string_view name) {
      if (!name.empty()) std::visit([&](auto value) { read(row, std::string(name), value); }, row.value);
    };
    read_name(row.name);
    for (const std::string_view name : row.other_names) read_name(name);
  }

 private:
  using Row = OptionRow<Options>;
  template <class T>
  using Value = typename Row::template Value<T>;

  void read(const Row& /*row*/, std::string name, Value<bool> value) {
    const bool is_opposite = name.starts_with('!');
    if (is_opposite) name.erase(0, 1);
    bool& flag = value(options_);
    flag = parameters_.flag(name, flag != is_opposite) != is_opposite;
  }
  // Reads an integer. -1, which whisper.cpp's clients send, keeps the default.
  template <class T>
  requires std::is_same_v<T, int> || std::is_same_v<T, std::optional<int>> || std::is_same_v<T, std::uint64_t>
  void read(const Row& row, const std::string& name, T& (*value)(Options&)) {
    const bool is_seed = std::is_same_v<T, std::uint64_t>;
    const OptionRange range = is_seed ? OptionRange{0, std::numeric_limits<int>::max()} : row.range;
    if (parameters_.is_form() && parameters_.text(name) == "-1") return;
    const auto number = parameters_.integer(name, static_cast<int>(range.min), static_cast<int>(range.max));
    if (number) value(options_) = static_cast<T>(*number);
  }
  void read(const Row& row, const std::string& name, Value<double> value) {
    if (const auto number = parameters_.real(name, row.range)) value(options_) = *number;
  }
  // Reads a number, or "none", which unsets the option.
  void read(const Row& row, const std::string& name, Value<std::optional<double>> value) {
    if (parameters_.has(name) && parameters_.text(name) == "none") {
      value(options_).reset();
    } else if (const auto number = parameters_.real(name, row.range)) {
      value(options_) = number;
    }
  }
  template <class T>
  requires std::is_same_v<T, std::string> || std::is_same_v<T, std::optional<std::string>>
  void read(const Row& /*row*/, const std::string& name, T& (*value)(Options&)) {
    if (std::string text = parameters_.short_text(name); !text.empty()) value(options_) = std::move(text);
  }
  void read(const Row& /*row*/, const std::string& /*name*/, Value<std::filesystem::path> /*value*/) {
  }  // not a client's
  // Reads numbers separated by commas: "1,2.5".
  template <class Number>
  void read(const Row& row, const std::string& name, std::vector<Number>& (*value)(Options&)) {
    if (!parameters_.has(name)) return;
    const std::string text = parameters_.short_text(name);
    std::vector<Number> numbers;
    for (const char *at = text.data(), *const end = at + text.size(); at != end;) {
      Number& number = numbers.emplace_back();
      const auto [stop, error] = std::from_chars(at, end, number);
      const bool is_whole = error == std::errc() && (stop == end || (*stop == ',' && stop + 1 != end));
      if (!is_whole || !row.range.has(static_cast<double>(number))) {
        throw HttpError(400, fmt::format("'{}' is '{}', expected numbers from {} to {} separated by commas", name,
                                         shown(text), row.range.min, row.range.max));
      }
      at = stop == end ? end : stop + 1;
    }
    value(options_) = std::move(numbers);
  }
  void read(const Row& row, const std::string& name, typename Row::Word word) {
    const std::string text = parameters_.text(name);
    if (text.empty()) return;
    const std::vector<std::string> words = choices_of(row.type);
    const auto found = std::ranges::find(words, text);
    if (found == words.end()) {
      throw HttpError(400, fmt::format("'{}' is '{}', expected {}", name, shown(text), fmt::join(words, " or ")));
    }
    word.set(options_, static_cast<std::size_t>(found - words.begin()));
  }

  const Parameters& parameters_;
  Options& options_;
};

}  // namespace encdec::serve
