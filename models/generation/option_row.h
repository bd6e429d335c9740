#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "encdec/engine/base/error.h"
#include "encdec/models/generation/generate_options.h"

namespace encdec {

// The allowed values of a number, of an ExponentialDecay's factor, or of token ids.
struct OptionRange {
  double min = 0;         // inclusive
  double max = 0;         // inclusive
  bool or_zero = false;   // 0 is allowed too
  bool is_token = false;  // the range is the vocabulary instead

  // Returns whether a number is allowed; NaN is not. The bounds are rounded to the number's type.
  template <class Number>
  bool has(Number value) const {
    return (or_zero && value == 0) || (value >= static_cast<Number>(min) && value <= static_cast<Number>(max));
  }
  // Return descriptions for error messages: "a number from 0 to 100", "an integer from 0 to 100".
  std::string expected() const;
  std::string expected_integer() const;
  // Throws ConfigError with the option's name, value and expected values, unless has(value).
  template <class Number>
  void check(std::string_view name, Number value) const {
    if (has(value)) return;
    const std::string range = std::is_integral_v<Number> ? expected_integer() : expected();
    throw ConfigError(fmt::format("{} is {}, expected {}", name, value, range));
  }
};

// A pointer to an option's value. std::uint8_t*: a one-byte enum, an index into the row's words.
using OptionValue =
    std::variant<bool*, int*, std::uint8_t*, std::uint64_t*, double*, std::string*, std::filesystem::path*,
                 std::vector<double>*, TokenIds*, std::optional<bool>*, std::optional<int>*,
                 std::optional<std::uint64_t>*, std::optional<float>*, std::optional<double>*,
                 std::optional<std::string>*, std::optional<EarlyStopping>*, std::optional<ExponentialDecay>*,
                 std::optional<TokenIds>*, std::optional<std::vector<TokenIds>>*>;

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

// Properties that only some options have.
struct OptionExtras {
  // The default of a checkpoint's setting. It is unset for lists and for settings without a default.
  std::optional<double> neutral = {};
  bool only_in_calls = false;  // generation_config.json cannot contain this setting
  // Other names in Python and in the server: names in other engines and APIs, or the key in generation_config.json.
  // "!name" is a flag with the opposite meaning.
  std::array<std::string_view, 2> other_names = {};
  std::string_view command_names = {};  // names on the command line: "--num-beams,--beam-size"
  std::string_view no_help = {};        // for a flag: help text of --no-NAME
};

// The description of an option, shared by files, command lines, Python, the server and reports.
struct OptionInfo : OptionExtras {
  constexpr explicit OptionInfo(std::string_view the_name, OptionRange the_range = {}, std::string_view the_group = {},
                                std::string_view the_type = {}, std::string_view the_help = {},
                                const OptionExtras& extras = {})
      : OptionExtras(extras), name(the_name), range(the_range), group(the_group), type(the_type), help(the_help) {}

  std::string_view name;  // the member's name; --name, with hyphens, on the command line
  OptionRange range;
  std::string_view group;  // heading in the command's help
  std::string_view type;   // placeholder in the help: "N", or words: "error|truncate"
  std::string_view help;   // if empty, the option is not on the command line

  // Returns a setting's name in generation_config.json and in reports.
  constexpr std::string_view key() const { return other_names[0].empty() ? name : other_names[0]; }
  std::vector<std::string_view> names() const;
  // Returns the type split at '|'.
  std::vector<std::string> words() const;
};

// An option of `Options`: its description, and access to its value.
template <class Options>
struct OptionRow : OptionInfo {
  constexpr OptionRow(std::string_view the_name, OptionValue (*the_value)(Options&), OptionRange the_range = {},
                      std::string_view the_group = {}, std::string_view the_type = {}, std::string_view the_help = {},
                      const OptionExtras& extras = {})
      : OptionInfo(the_name, the_range, the_group, the_type, the_help, extras), value(the_value) {}

  OptionValue (*value)(Options& options);

  template <class T>
  const T& get(const Options& options) const {
    return *std::get<T*>(value(const_cast<Options&>(options)));
  }
  // Calls use(value) if `use` accepts the value's type. The value is const if `options` is.
  template <class O, class Use>
  void visit(O& options, const Use& use) const {
    const auto call = [&use]<class T>(T* found) {
      using V = std::conditional_t<std::is_const_v<O>, const T, T>;
      if constexpr (std::is_invocable_v<Use, V&>) use(static_cast<V&>(*found));
    };
    std::visit(call, value(const_cast<Options&>(options)));
  }
};

template <class T>
OptionValue option_value(T& member) {
  if constexpr (std::is_enum_v<T>) {
    static_assert(sizeof(T) == 1);
    return reinterpret_cast<std::uint8_t*>(&member);
  } else {
    return &member;
  }
}

template <class Member>
struct OwnerOf;
template <class Owner, class T>
struct OwnerOf<T Owner::*> {
  using Type = Owner;
};

// Makes OptionRow::value for a member, or for a nested one:
// kOption<&TranscribeOptions::vad, &Vad::threshold>.
template <auto Member, auto... Inner>
inline constexpr auto kOption = [](typename OwnerOf<decltype(Member)>::Type& options) -> OptionValue {
  return option_value(((options.*Member).*....*Inner));
};

// Throws ConfigError for a number outside its range.
template <class Options>
void check_ranges(std::span<const OptionRow<Options>> rows, const Options& options) {
  for (const OptionRow<Options>& row : rows) {
    row.visit(options, [&row]<class T>(const T& value) {
      if constexpr (std::is_same_v<T, int> || std::is_same_v<T, double>) {
        row.range.check(row.name, value);
      } else if constexpr (std::is_same_v<T, std::optional<int>> || std::is_same_v<T, std::optional<double>>) {
        if (value) row.range.check(row.name, *value);
      } else if constexpr (std::is_same_v<T, std::vector<double>> || std::is_same_v<T, TokenIds>) {
        for (const auto number : value) row.range.check(row.name, number);
      }
    });
  }
}

}  // namespace encdec
