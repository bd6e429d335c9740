#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nanobind/nanobind.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "encdec/engine/base/error.h"
#include "encdec/models/generation/option_row.h"
#include "keywords.h"

namespace encdec::python {

// Calls use(name, is_opposite) for each spelling of a row: of a flag with the opposite meaning, `is_opposite` is true.
template <class Options, class Use>
void for_each_name(const OptionRow<Options>& row, const Use& use) {
  use(row.name, false);
  for (const std::string_view name : row.other_names) {
    const bool is_opposite = name.starts_with('!');
    if (!name.empty()) use(name.substr(is_opposite ? 1 : 0), is_opposite);
  }
}

// Reads the options of rows from keyword arguments, without `prefix` if the names begin with it. None means:
// - for a number that may be unset: unset; for a count that is at least 1: 1; for a list of token ids: no tokens;
// - else: not given.
// Throws TypeError or ConfigError for a value of another type, and ConfigError for a number outside its range.
template <class Options>
class RowReader {
 public:
  RowReader(Keywords& keywords, Options& options, std::string_view prefix = {})
      : keywords_(keywords), options_(options), prefix_(prefix) {}

  void read(const OptionRow<Options>& row) {
    std::string_view found;
    for_each_name(row, [&](std::string_view name, bool is_opposite) {
      if (name.starts_with(prefix_)) name.remove_prefix(prefix_.size());
      if (keywords_.is_none(name)) std::visit([&](auto value) { reset(row, value); }, row.value);
      const nanobind::object given = keywords_.take(name);
      if (!given.is_valid()) return;
      if (!found.empty()) throw nanobind::type_error(fmt::format("{} and {} are the same option", found, name).c_str());
      found = name;
      std::visit([&](auto value) { set(row, name, given, value); }, row.value);
      if (auto* value = std::get_if<Value<bool>>(&row.value); value != nullptr && is_opposite) {
        (*value)(options_) = !(*value)(options_);
      }
    });
  }

 private:
  using Row = OptionRow<Options>;
  template <class T>
  using Value = typename Row::template Value<T>;

  template <class V>
  void reset(const Row& row, V value) {
    if constexpr (std::is_same_v<V, Value<std::optional<double>>>) {
      value(options_).reset();
    } else if constexpr (std::is_same_v<V, Value<int>>) {
      if (row.range.min == 1) value(options_) = 1;
    } else if constexpr (std::is_same_v<V, Value<TokenIds>>) {
      value(options_).clear();
    }
  }

  template <class T>
  void set(const Row& /*row*/, std::string_view name, const nanobind::object& given, T& (*value)(Options&)) {
    read_value(name, given, value(options_));
  }
  void set(const Row& /*row*/, std::string_view name, const nanobind::object& given,
           Value<std::filesystem::path> value) {
    if (PyBytes_Check(given.ptr()) == 0) refuse_value(name, given, "a path");
    value(options_) = std::string(PyBytes_AsString(given.ptr()), static_cast<std::size_t>(PyBytes_Size(given.ptr())));
  }
  // Reads one token id or a list of them. Negative numbers are checked with the row's range.
  void set(const Row& /*row*/, std::string_view name, nanobind::object given, Value<TokenIds> value) {
    if (nanobind::hasattr(given, "tolist")) given = given.attr("tolist")();
    if (PyIndex_Check(given.ptr()) != 0) given = nanobind::make_tuple(given);
    if (PyList_Check(given.ptr()) == 0 && PyTuple_Check(given.ptr()) == 0) refuse_value(name, given, "token ids");
    value(options_).clear();
    for (const nanobind::handle id : given) read_value(name, id, value(options_).emplace_back());
  }
  void set(const Row& row, std::string_view name, const nanobind::object& given, typename Row::Word word) {
    std::string text;
    read_value(name, given, text);
    const std::vector<std::string> words = choices_of(row.type);
    const auto found = std::ranges::find(words, text);
    if (found == words.end()) {
      throw ConfigError(fmt::format("{} is '{}', expected {}", name, text, fmt::join(words, " or ")));
    }
    word.set(options_, static_cast<std::size_t>(found - words.begin()));
  }

  Keywords& keywords_;
  Options& options_;
  std::string_view prefix_;
};

// Reads the options of all rows.
template <class Options>
void read_rows(Keywords& keywords, std::span<const OptionRow<Options>> rows, Options& options) {
  RowReader<Options> reader(keywords, options);
  for (const OptionRow<Options>& row : rows) reader.read(row);
  check_ranges(rows, options);
}

// Appends all names of rows.
template <class Options>
void add_names(std::span<const OptionRow<Options>> rows, std::vector<std::string>& names) {
  for (const OptionRow<Options>& row : rows) {
    for_each_name(row, [&](std::string_view name, bool /*is_opposite*/) { names.emplace_back(name); });
  }
}

}  // namespace encdec::python
