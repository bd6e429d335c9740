#pragma once

#include <encdec/models/generation/option_row.h>
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "encdec/options.h"

namespace encdec::cli {

// Returns the parts of "a,b,c"; none for an empty text.
inline std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  return parts;
}

// Reads an integer or a number in an option's range; nullopt for another text.
template <class Number>
std::optional<Number> parse_in(const OptionRange& range, const std::string& text) {
  const auto value = parse_number<Number>(text);
  return value && range.has(static_cast<double>(*value)) ? value : std::nullopt;
}

// Adds the options of a group's rows, in their order. The help shows defaults.
template <class Options>
class RowOptions {
 public:
  // REQUIRES: `options` outlives the command.
  RowOptions(CLI::App& command, Options& options) : command_(command), options_(options) {}

  void add(const OptionRow<Options>& row) {
    std::visit([&](auto value) { add(row, value); }, row.value);
  }

 private:
  using Row = OptionRow<Options>;
  template <class T>
  using Value = typename Row::template Value<T>;

  static std::string name_of(const Row& row, std::string_view prefix = "--") {
    std::string name(row.name);
    std::ranges::replace(name, '_', '-');
    name.insert(0, prefix);
    return row.command_name.empty() ? name : fmt::format("{},{}", name, row.command_name);
  }
  static std::string group_of(const Row& row) { return row.group.empty() ? "Options" : std::string(row.group); }
  // Adds an option that takes a text.
  template <class Take>
  CLI::Option* add_text(const Row& row, const Take& take) {
    return command_.add_option_function<std::string>(name_of(row), take, std::string(row.help))
        ->type_name(std::string(row.type))
        ->group(group_of(row));
  }

  void add(const Row& row, Value<bool> value) {
    const std::string group = group_of(row);
    if (!row.help.empty()) command_.add_flag(name_of(row), value(options_), std::string(row.help))->group(group);
    if (row.no_help.empty()) return;
    const auto set_false = [&options = options_, value] { value(options) = false; };
    command_.add_flag_callback(name_of(row, "--no-"), set_false, std::string(row.no_help))->group(group);
  }
  void add(const Row& row, Value<int> value) { add_integer(row, value)->default_str(std::to_string(value(options_))); }
  // An integer, or a word that leaves it unset: "auto" of the type "N|auto".
  void add(const Row& row, Value<std::optional<int>> value) {
    const std::size_t bar = row.type.find('|');
    if (bar == row.type.npos) return void(add_integer(row, value));
    const std::string word(row.type.substr(bar + 1));
    const auto fits = [&row, word](const std::string& text) { return text == word || parse_in<int>(row.range, text); };
    add_text(row, [&options = options_, value, word](const std::string& text) {
      value(options) = text == word ? std::nullopt : parse_number<int>(text);
    })->check(expecting(fmt::format("{}, or {}", row.range.expected_integer(), word), fits));
  }
  void add(const Row& row, Value<std::uint64_t> value) {
    add_text(row, [&options = options_,
                   value](const std::string& text) { value(options) = *parse_number<std::uint64_t>(text); })
        ->check(integer_from(0, std::numeric_limits<std::int64_t>::max()))
        ->default_str(std::to_string(value(options_)));
  }
  template <class T>
  CLI::Option* add_integer(const Row& row, Value<T> value) {
    return add_text(row, [&options = options_,
                          value](const std::string& text) { value(options) = *parse_number<int>(text); })
        ->check(integer_from(static_cast<std::int64_t>(row.range.min), static_cast<std::int64_t>(row.range.max)));
  }
  void add(const Row& row, Value<double> value) {
    add_text(row,
             [&options = options_, value](const std::string& text) { value(options) = *parse_number<double>(text); })
        ->check(expecting(row.range.expected(),
                          [&row](const std::string& text) { return parse_in<double>(row.range, text).has_value(); }))
        ->default_str(fmt::format("{}", value(options_)));
  }
  // A number whose value may also be "none", which unsets it.
  void add(const Row& row, Value<std::optional<double>> value) {
    const auto take = [&options = options_, value](const std::string& text) {
      value(options) = text == "none" ? std::nullopt : parse_number<double>(text);
    };
    const auto fits = [&row](const std::string& text) { return text == "none" || parse_in<double>(row.range, text); };
    CLI::Option* option = add_text(row, take)->check(expecting(row.range.expected() + ", or none", fits));
    if (const auto number = value(options_)) option->default_str(fmt::format("{}", *number));
  }
  void add(const Row& row, Value<std::string> value) {
    command_.add_option(name_of(row), value(options_), std::string(row.help))
        ->type_name(std::string(row.type))
        ->group(group_of(row));
  }
  template <class T>
  requires std::is_same_v<T, std::optional<std::string>> || std::is_same_v<T, std::filesystem::path>
  void add(const Row& row, T& (*value)(Options&)) {
    add_text(row, [&options = options_, value](const std::string& text) { value(options) = text; });
  }
  void add(const Row& row, Value<std::vector<double>> value) { add_list(row, value, "seconds"); }
  void add(const Row& row, Value<TokenIds> value) {
    add_list(row, value, "token ids")->default_str(fmt::format("{}", fmt::join(value(options_), ",")));
  }
  // Numbers separated by commas.
  template <class T>
  CLI::Option* add_list(const Row& row, Value<std::vector<T>> value, std::string_view what) {
    const auto take = [&options = options_, value](const std::string& text) {
      value(options).clear();
      for (const std::string& part : split_at_commas(text)) value(options).push_back(*parse_number<T>(part));
    };
    const auto fits = [&row](const std::string& text) {
      return std::ranges::all_of(split_at_commas(text),
                                 [&row](const std::string& part) { return parse_in<T>(row.range, part).has_value(); });
    };
    return add_text(row, take)->check(expecting(fmt::format("{} separated by commas", what), fits));
  }
  void add(const Row& row, typename Row::Word word) {
    const std::vector<std::string> words = choices_of(row.type);
    const auto take = [&options = options_, word, words](const std::string& text) {
      word.set(options, static_cast<std::size_t>(std::ranges::find(words, text) - words.begin()));
    };
    take_words(add_text(row, take), words)->default_str(words[word.get(options_)]);
  }

  CLI::App& command_;
  Options& options_;
};

}  // namespace encdec::cli
