#include "command/option_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "command/options.h"

namespace encdec::cli {
namespace {

std::string group_of(const OptionInfo& row) {
  return row.group.empty() ? "Options" : std::string(row.group);
}

// Returns the word that unsets an option: "none" for a threshold, "auto" for the type "N|auto"; else an empty text.
template <class T>
std::string_view unset_word(const OptionInfo& row) {
  if (std::is_same_v<T, std::optional<double>>) return "none";
  const std::size_t bar = row.type.find('|');
  return std::is_same_v<T, std::optional<int>> && bar != row.type.npos ? row.type.substr(bar + 1) : std::string_view();
}

// Parses the text of an option. Returns an empty text if `text` is valid, else a description of the expected values.
template <class T>
std::string parse(const OptionInfo& row, const std::string& text, T& value);

// Parses values separated by commas: "a,b,c".
template <class T>
std::string parse_list(const OptionInfo& row, const std::string& text, std::vector<T>& values) {
  values.clear();
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) {
    if (parse(row, part, values.emplace_back()).empty()) continue;
    return fmt::format("{} separated by commas", std::is_same_v<T, double> ? "seconds" : "token ids");
  }
  return {};
}

// Parses "START,FACTOR".
std::string parse_decay(const OptionInfo& row, const std::string& text, ExponentialDecay& decay) {
  const std::size_t comma = text.find(',');
  const auto start = parse_number<int>(text.substr(0, comma));
  decay.start = start.value_or(-1);
  const bool has_start = comma != text.npos && decay.start >= 0 && decay.start <= kMaxTokenCount;
  if (has_start && parse(row, text.substr(comma + 1), decay.factor).empty()) return {};
  return fmt::format("START,FACTOR: an integer from 0 to {} and a number above 0", kMaxTokenCount);
}

template <class T>
std::string parse(const OptionInfo& row, const std::string& text, T& value) {
  // Each type of OptionValue has a case. Words that are not in the row were refused before; see take_words().
  if constexpr (kIsOptional<T>) {
    value.reset();
    const std::string_view word = unset_word<T>(row);
    if (!word.empty() && text == word) return {};
    const std::string expected = parse(row, text, value.emplace());
    return expected.empty() || word.empty() ? expected : fmt::format("{}, or {}", expected, word);
  } else if constexpr (std::is_same_v<T, bool>) {
    value = text != "false";
  } else if constexpr (std::is_same_v<T, std::uint8_t>) {
    const std::vector<std::string> words = row.words();
    value = static_cast<std::uint8_t>(std::ranges::find(words, text) - words.begin());
  } else if constexpr (std::is_same_v<T, EarlyStopping>) {
    value = text == "true"    ? EarlyStopping::when_full
            : text == "never" ? EarlyStopping::never
                              : EarlyStopping::heuristic;
  } else if constexpr (std::is_same_v<T, std::uint64_t>) {
    const auto number = parse_number<std::int64_t>(text);
    value = static_cast<std::uint64_t>(number.value_or(0));
    if (number.value_or(-1) < 0)
      return fmt::format("an integer from 0 to {}", std::numeric_limits<std::int64_t>::max());
  } else if constexpr (std::is_same_v<T, int>) {
    const auto number = parse_number<int>(text);
    value = number.value_or(0);
    if (!number || !row.range.has(value)) return row.range.expected_integer();
  } else if constexpr (std::is_floating_point_v<T>) {
    const auto number = parse_number<double>(text);
    value = static_cast<T>(number.value_or(0));
    if (!number || !row.range.has(*number)) return row.range.expected();
  } else if constexpr (std::is_same_v<T, ExponentialDecay>) {
    return parse_decay(row, text, value);
  } else if constexpr (std::is_same_v<T, std::vector<double>> || std::is_same_v<T, TokenIds>) {
    return parse_list(row, text, value);
  } else if constexpr (std::is_assignable_v<T&, std::string>) {
    value = text;
  }
  return {};
}

// Returns the default that the help shows; empty if the help shows no default.
template <class T>
std::string shown(const OptionInfo& row, const T& value) {
  if constexpr (kIsOptional<T>) {
    return value ? shown(row, *value) : std::string();
  } else if constexpr (std::is_same_v<T, std::uint8_t>) {
    return row.words()[value];
  } else if constexpr (std::is_arithmetic_v<T>) {
    return fmt::format("{}", value);
  } else if constexpr (std::is_same_v<T, TokenIds>) {
    return fmt::format("{}", fmt::join(value, ","));
  } else {
    return {};
  }
}

// Adds --NAME if the row has `help`, and --no-NAME if the row has `no_help`.
CLI::Option* add_flag(CLI::App& command, const OptionInfo& row, bool& value) {
  CLI::Option* flag = nullptr;
  const std::string name = command_names(row);
  if (!row.help.empty()) flag = command.add_flag(name, value, std::string(row.help))->group(group_of(row));
  if (row.no_help.empty()) return flag;
  const auto unset = [&value] { value = false; };
  return command.add_flag_callback("--no-" + name.substr(2), unset, std::string(row.no_help))->group(group_of(row));
}

}  // namespace

std::string command_names(const OptionInfo& row) {
  if (!row.command_names.empty()) return std::string(row.command_names);
  std::string name = fmt::format("--{}", row.name);
  std::ranges::replace(name, '_', '-');
  return name;
}

CLI::Option* add_text_option(CLI::App& command, const OptionInfo& row, std::function<void(const std::string&)> take) {
  return command.add_option_function<std::string>(command_names(row), std::move(take), std::string(row.help))
      ->type_name(std::string(row.type))
      ->group(group_of(row));
}

CLI::Option* add_option(CLI::App& command, const OptionInfo& row, OptionValue value) {
  if (bool* const* flag = std::get_if<bool*>(&value)) return add_flag(command, row, **flag);
  const auto add = [&]<class T>(T* to) {
    CLI::Option* option = add_text_option(command, row, [row, to](const std::string& text) { parse(row, text, *to); });
    constexpr bool is_flag = std::is_same_v<T, std::optional<bool>>;
    if (is_flag) option->expected(0, 1);
    if (is_flag || std::is_same_v<T, std::uint8_t> || std::is_same_v<T, std::optional<EarlyStopping>>) {
      take_words(option, row.words());
    }
    const auto check = [row](const std::string& text) {
      T read{};
      const std::string expected = parse(row, text, read);
      return expected.empty() ? expected : fmt::format("'{}', expected {}", text, expected);
    };
    option->check(CLI::Validator(check, "", ""));
    return option->default_str(shown(row, *to));
  };
  return std::visit(add, value);
}

}  // namespace encdec::cli
