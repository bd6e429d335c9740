#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "encdec/engine/base/error.h"
#include "encdec/engine/base/named_values.h"
#include "values.h"

namespace encdec::python {

// Returns the value with the name `word` in a table. Throws ConfigError, naming the option, if no value has that name.
auto named(std::string_view option, const std::string& word, const auto& table) {
  const auto value = value_named<decltype(table.front().value)>(table, word);
  if (!value) throw ConfigError(fmt::format("{} is '{}', expected {}", option, word, fmt::join(names_of(table), ", ")));
  return *value;
}

// The keyword arguments of a call. The callee takes the arguments that it knows; then finish() throws TypeError if any
// are left. An argument that is None counts as not given; only is_none() distinguishes the two cases.
class Keywords {
 public:
  explicit Keywords(const nanobind::dict& keywords) {
    for (auto [key, value] : keywords) {
      auto name = nanobind::cast<std::string>(key);
      if (value.is_none()) {
        nones_.push_back(std::move(name));
      } else {
        values_.emplace_back(std::move(name), nanobind::borrow(value));
      }
    }
  }

  bool is_none(std::string_view name) const { return std::ranges::find(nones_, name) != nones_.end(); }

  // Removes and returns the value of an argument; returns an invalid object if it is not given.
  nanobind::object take(std::string_view name) {
    const auto entry = std::ranges::find(values_, name, &std::pair<std::string, nanobind::object>::first);
    if (entry == values_.end()) return {};
    nanobind::object found = std::move(entry->second);
    values_.erase(entry);
    return found;
  }
  template <class T>
  void read(T& value, std::string_view name) {
    if (const nanobind::object given = take(name); given.is_valid()) read_value(name, given, value);
  }
  // Takes an argument that is not supported. Throws ConfigError if it is given and neither False nor `neutral`.
  void check_neutral(std::string_view name, const std::optional<double>& neutral = {}) {
    const nanobind::object value = take(name);
    if (!value.is_valid()) return;
    bool is_neutral = false;
    if (PyBool_Check(value.ptr()) != 0) {
      is_neutral = value.ptr() == Py_False;
    } else if (neutral && nanobind::hasattr(value, "__float__")) {
      is_neutral = PyFloat_AsDouble(value.ptr()) == *neutral;
      PyErr_Clear();  // __float__ may raise
    }
    if (is_neutral) return;
    const auto got = nanobind::cast<std::string>(nanobind::str(nanobind::repr(value)));
    throw ConfigError(fmt::format("{} is {}, which this version does not support", name, got));
  }
  void finish() const {
    if (values_.empty()) return;
    throw nanobind::type_error(fmt::format("unexpected keyword argument '{}'", values_.front().first).c_str());
  }

 private:
  std::vector<std::pair<std::string, nanobind::object>> values_;
  std::vector<std::string> nones_;
};

}  // namespace encdec::python
