#include "option_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <type_traits>

#include "encdec/engine/base/error.h"
#include "values.h"

namespace encdec::python {
namespace {

namespace nb = nanobind;

// Sets an option to the value that None means; see read_option().
template <class T>
void reset(const OptionInfo& row, T& value) {
  if constexpr (std::is_same_v<T, std::optional<double>>) {
    value.reset();
  } else if constexpr (std::is_same_v<T, int>) {
    if (row.range.min == 1) value = 1;
  } else if constexpr (std::is_same_v<T, TokenIds>) {
    value.clear();
  }
}

template <class T>
void set(const OptionInfo& /*row*/, std::string_view name, const nb::object& given, T& value) {
  read_value(name, given, value);
}
void set(const OptionInfo& /*row*/, std::string_view name, const nb::object& given, std::filesystem::path& value) {
  if (PyBytes_Check(given.ptr()) == 0) refuse_value(name, given, "a path");
  value = std::string(PyBytes_AsString(given.ptr()), static_cast<std::size_t>(PyBytes_Size(given.ptr())));
}
// Reads a token id or a list of token ids. Negative numbers are checked later, with the row's range.
void set(const OptionInfo& /*row*/, std::string_view name, nb::object given, TokenIds& value) {
  if (nb::hasattr(given, "tolist")) given = given.attr("tolist")();
  if (PyIndex_Check(given.ptr()) != 0) given = nb::make_tuple(given);
  if (PyList_Check(given.ptr()) == 0 && PyTuple_Check(given.ptr()) == 0) refuse_value(name, given, "token ids");
  value.clear();
  for (const nb::handle id : given) read_value(name, id, value.emplace_back());
}
void set(const OptionInfo& row, std::string_view name, const nb::object& given, std::uint8_t& word) {
  std::string text;
  read_value(name, given, text);
  const std::vector<std::string> words = row.words();
  const auto found = std::ranges::find(words, text);
  if (found == words.end()) {
    throw ConfigError(fmt::format("{} is '{}', expected {}", name, text, fmt::join(words, " or ")));
  }
  word = static_cast<std::uint8_t>(found - words.begin());
}

// Returns a name without the '!' that marks the opposite of a flag.
std::string_view plain_name(std::string_view name) {
  return name.substr(name.starts_with('!') ? 1 : 0);
}

}  // namespace

void read_option(Keywords& keywords, const OptionInfo& row, OptionValue value, std::string_view prefix,
                 std::string_view error_name) {
  std::string_view found;
  for (const std::string_view spelling : row.names()) {
    std::string_view name = plain_name(spelling);
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
    if (keywords.is_none(name)) std::visit([&row](auto* to) { reset(row, *to); }, value);
    const nb::object given = keywords.take(name);
    if (!given.is_valid()) continue;
    if (!found.empty()) throw nb::type_error(fmt::format("{} and {} are the same option", found, name).c_str());
    found = name;
    std::visit([&](auto* to) { set(row, error_name.empty() ? name : error_name, given, *to); }, value);
    if (bool* const* flag = std::get_if<bool*>(&value); flag != nullptr && spelling.starts_with('!')) **flag = !**flag;
  }
}

void add_names(const OptionInfo& row, std::vector<std::string>& names) {
  for (const std::string_view name : row.names()) names.emplace_back(plain_name(name));
}

}  // namespace encdec::python
