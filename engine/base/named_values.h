#pragma once

#include <algorithm>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

namespace encdec {

// One row of a table of values and their names.
template <class Value>
struct Named {
  Value value;
  std::string_view name;
};
template <class Value>
Named(Value, const char*) -> Named<Value>;

// REQUIRES: the table contains `value`.
template <class Value>
constexpr std::string_view name_of(const auto& table, Value value) {
  return std::ranges::find(table, value, &Named<Value>::value)->name;
}

// Returns nullopt if the table has no such name.
template <class Value>
constexpr std::optional<Value> value_named(const auto& table, std::string_view name) {
  const auto found = std::ranges::find(table, name, &Named<Value>::name);
  return found == std::ranges::end(table) ? std::nullopt : std::optional(found->value);
}

std::vector<std::string> names_of(const auto& table) {
  std::vector<std::string> names;
  for (const auto& row : table) names.emplace_back(row.name);
  return names;
}

}  // namespace encdec
