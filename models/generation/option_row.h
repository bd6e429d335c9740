#pragma once

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

#include "encdec/models/session/token_ids.h"

namespace encdec {

// The allowed values of a number, both ends included.
struct OptionRange {
  double min = 0;
  double max = 0;
  bool or_zero = false;  // 0 is allowed too

  // Returns whether a value is allowed; NaN is not.
  bool has(double value) const { return (or_zero && value == 0) || (value >= min && value <= max); }
  // Return descriptions for error messages: "a number from 0 to 100", "an integer from 0 to 100".
  std::string expected() const;
  std::string expected_integer() const;
  // Throws ConfigError, naming the option, its value and the expected values, for a value that is not allowed.
  void check(std::string_view name, double value) const;
  void check(std::string_view name, std::int64_t value) const;
};

// The description of one option of a call. The command line, Python and the server read the option from it, so that it
// has the same names, range and errors there.
template <class Options>
struct OptionRow {
  // Returns the option's value in `options`.
  template <class T>
  using Value = T& (*)(Options& options);
  // A value that is one of the words of `type`.
  struct Word {
    void (*set)(Options& options, std::size_t index);  // index of the word
    std::size_t (*get)(const Options& options);
  };

  std::string_view name;  // used by Python and the server; the command line has --name, with hyphens
  std::variant<Value<bool>, Value<int>, Value<std::optional<int>>, Value<std::uint64_t>, Value<double>,
               Value<std::optional<double>>, Value<std::string>, Value<std::optional<std::string>>,
               Value<std::filesystem::path>, Value<std::vector<double>>, Value<TokenIds>, Word>
      value;
  OptionRange range = {};
  // Spellings of other engines and APIs, for Python and the server. "!name" is a flag of the opposite meaning.
  std::array<std::string_view, 2> other_names = {};
  // Command line: the group in the help, the name of the value ("N", or words: "error|truncate"), and the help text.
  // For a flag, no_help is the help text of --no-NAME. An option without a help text is not on the command line.
  std::string_view group = {};
  std::string_view type = {};
  std::string_view help = {};
  std::string_view no_help = {};
  std::string_view command_name = {};  // another name on the command line: "--num-beams"
};

// Returns the words of a type: "error|truncate".
std::vector<std::string> choices_of(std::string_view type);

// OptionRow::value for a member of the options, for a member of a member, and for a member that is an enum.
template <auto M>
struct OptionMember;
template <class O, class T, T O::*M>
struct OptionMember<M> {
  static constexpr T& value(O& options) { return options.*M; }
  static constexpr
      typename OptionRow<O>::Word word{[](O& options, std::size_t index) { options.*M = static_cast<T>(index); },
                                       [](const O& options) { return static_cast<std::size_t>(options.*M); }};
};
template <auto M>
inline constexpr auto kOption = &OptionMember<M>::value;
template <auto M>
inline constexpr auto kWordOption = OptionMember<M>::word;

template <class Number>
using Wide = std::conditional_t<std::is_same_v<Number, double>, double, std::int64_t>;

// Throws ConfigError for a number outside its range.
template <class Options>
void check_ranges(std::span<const OptionRow<Options>> rows, const Options& options) {
  Options copy = options;  // rows return references to values that may change
  for (const OptionRow<Options>& row : rows) {
    const auto check = [&row](const auto& value) {
      using T = std::remove_cvref_t<decltype(value)>;
      if constexpr (std::is_same_v<T, int> || std::is_same_v<T, double>) {
        row.range.check(row.name, Wide<T>{value});
      } else if constexpr (std::is_same_v<T, std::optional<int>> || std::is_same_v<T, std::optional<double>>) {
        if (value) row.range.check(row.name, Wide<typename T::value_type>{*value});
      } else if constexpr (std::is_same_v<T, std::vector<double>> || std::is_same_v<T, TokenIds>) {
        for (const auto number : value) row.range.check(row.name, Wide<typename T::value_type>{number});
      }
    };
    std::visit(
        [&](auto get) {
          if constexpr (!std::is_same_v<decltype(get), typename OptionRow<Options>::Word>) check(get(copy));
        },
        row.value);
  }
}

}  // namespace encdec
