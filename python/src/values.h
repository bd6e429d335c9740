#pragma once

#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/engine/base/error.h"
#include "encdec/models/generation/generate_options.h"
#include "inputs.h"

namespace encdec::python {

// Functions that read an option's value from a Python object. They throw TypeError, with the option's name.

[[noreturn]] inline void refuse_value(std::string_view name, nanobind::handle value, std::string_view expected) {
  const auto got = nanobind::cast<std::string>(nanobind::str(nanobind::repr(value)));
  throw nanobind::type_error(fmt::format("{} is {}, expected {}", name, got, expected).c_str());
}

inline void read_value(std::string_view name, nanobind::handle value, std::string& result) {
  if (PyUnicode_Check(value.ptr()) == 0) refuse_value(name, value, "a str");
  result = text_from(value, name);
}

inline void read_value(std::string_view name, nanobind::handle value, int& result) {
  if (PyBool_Check(value.ptr()) != 0 || PyIndex_Check(value.ptr()) == 0) refuse_value(name, value, "an integer");
  const std::int64_t number = integer_from(value, name);
  if (number < std::numeric_limits<int>::min() || number > std::numeric_limits<int>::max()) {
    throw ConfigError(fmt::format("{} is {}, expected a 32-bit integer", name, number));
  }
  result = static_cast<int>(number);
}

inline void read_value(std::string_view name, nanobind::handle value, std::uint64_t& result) {
  if (PyBool_Check(value.ptr()) != 0 || PyIndex_Check(value.ptr()) == 0) refuse_value(name, value, "an integer");
  const nanobind::object index = index_of(value);
  result = PyLong_AsUnsignedLongLong(index.ptr());
  if (PyErr_Occurred() == nullptr) return;
  PyErr_Clear();
  throw ConfigError(fmt::format("{} is {}, expected 0 to 2^64 - 1", name, nanobind::str(index).c_str()));
}

inline void read_value(std::string_view name, nanobind::handle value, double& result) {
  const bool is_number =
      PyFloat_Check(value.ptr()) != 0 || PyIndex_Check(value.ptr()) != 0 || nanobind::hasattr(value, "__float__");
  if (PyBool_Check(value.ptr()) != 0 || !is_number) refuse_value(name, value, "a number");
  result = PyFloat_AsDouble(value.ptr());
  if (PyErr_Occurred() == nullptr) return;
  if (PyErr_ExceptionMatches(PyExc_OverflowError) == 0) throw nanobind::python_error();
  PyErr_Clear();
  throw ConfigError(fmt::format("{}: found a number out of range, expected one that fits a float", name));
}

inline void read_value(std::string_view name, nanobind::handle value, float& result) {
  double number = 0;
  read_value(name, value, number);
  result = static_cast<float>(number);
}

inline void read_value(std::string_view name, nanobind::handle value, bool& result) {
  const auto type = nanobind::cast<std::string>(value.type().attr("__name__"));
  if (type != "bool" && type != "bool_") refuse_value(name, value, "True or False");  // bool_ is numpy's
  result = PyObject_IsTrue(value.ptr()) == 1;
}

inline void read_value(std::string_view name, nanobind::handle value, EarlyStopping& result) {
  constexpr std::string_view kExpected = "True, False or \"never\"";
  if (PyUnicode_Check(value.ptr()) != 0) {
    if (text_from(value, name) != "never") {
      throw ConfigError(fmt::format("{} is '{}', expected {}", name, text_from(value, name), kExpected));
    }
    result = EarlyStopping::never;
    return;
  }
  if (PyBool_Check(value.ptr()) == 0) refuse_value(name, value, kExpected);
  result = value.ptr() == Py_True ? EarlyStopping::when_full : EarlyStopping::heuristic;
}

inline void read_value(std::string_view name, nanobind::handle value, ExponentialDecay& result) {
  if (!nanobind::isinstance<nanobind::sequence>(value) || PyUnicode_Check(value.ptr()) != 0 ||
      nanobind::len(value) != 2) {
    refuse_value(name, value, "a start and a factor");
  }
  read_value(name, nanobind::object(value[0]), result.start);
  read_value(name, nanobind::object(value[1]), result.factor);
}

// Reads a list of token ids. Converts a single token id to a list.
inline void read_value(std::string_view name, nanobind::handle value, TokenIds& result) {
  if (PyIndex_Check(value.ptr()) != 0 && !nanobind::hasattr(value, "__len__")) {
    result = {token_from(value, name)};
  } else {
    result = ids_from(value, name);
  }
}

// Reads a list of lists of token ids, for example transformers' force_words_ids without alternatives.
inline void read_value(std::string_view name, nanobind::handle value, std::vector<TokenIds>& result) {
  if (PyList_Check(value.ptr()) == 0 && PyTuple_Check(value.ptr()) == 0)
    refuse_value(name, value, "lists of token ids");
  result = rows_from(value, name);
}

// Reads a list of numbers. Converts a single number to a list.
inline void read_value(std::string_view name, nanobind::handle value, std::vector<double>& result) {
  result.clear();
  if (PyUnicode_Check(value.ptr()) != 0 || PyBytes_Check(value.ptr()) != 0 || !nanobind::hasattr(value, "__iter__")) {
    return read_value(name, value, result.emplace_back());
  }
  for (const nanobind::handle number : value) read_value(name, number, result.emplace_back());
}

template <class T>
void read_value(std::string_view name, nanobind::handle value, std::optional<T>& result) {
  read_value(name, value, result.emplace());
}

}  // namespace encdec::python
