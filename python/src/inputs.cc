#include "inputs.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <cmath>
#include <limits>
#include <type_traits>

#include "compute.h"
#include "encdec/engine/base/error.h"

namespace encdec::python {
namespace {

namespace nb = nanobind;

std::string class_name(nb::handle value) {
  return nb::cast<std::string>(value.type().attr("__name__"));
}

[[noreturn]] void refuse_type(nb::handle value, std::string_view what, std::string_view expected) {
  throw nb::type_error(fmt::format("{}: {}, expected {}", what, class_name(value), expected).c_str());
}

bool is_text(nb::handle value) {
  return PyUnicode_Check(value.ptr()) != 0;
}

// Returns whether a value means "missing": None, NaN or pandas.NA.
bool is_missing(nb::handle value) {
  if (PyFloat_Check(value.ptr()) != 0) return std::isnan(PyFloat_AsDouble(value.ptr()));
  return value.is_none() || (!is_text(value) && class_name(value) == "NAType");
}

// Converts a str to the variant's text, and any other object to token ids.
template <class Variant>
Variant text_or_ids(nb::handle value, std::string_view what) {
  if (is_text(value)) return text_from(value, what);
  return ids_from(value, what);
}

}  // namespace

nb::object text_of(std::string_view bytes, const char* errors) {
  return nb::steal(PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), errors));
}

nb::object index_of(nb::handle value) {
  PyObject* index = nullptr;
  take_lock([&] { index = PyNumber_Index(value.ptr()); });  // may run Python code
  if (index == nullptr) throw nb::python_error();
  return nb::steal(index);
}

std::int64_t integer_from(nb::handle value, std::string_view what) {
  if (PyBool_Check(value.ptr()) != 0 || PyIndex_Check(value.ptr()) == 0) refuse_type(value, what, "an integer");
  const nb::object index = index_of(value);
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
  if (overflow != 0) {
    throw ConfigError(fmt::format("{} is {}, expected a 64-bit integer", what, nb::str(index).c_str()));
  }
  return number;
}

std::int32_t token_from(nb::handle value, std::string_view what) {
  const std::int64_t id = integer_from(value, what);
  if (id < 0 || id > std::numeric_limits<std::int32_t>::max()) {
    throw InputError(fmt::format("{}: token id {}, expected one of the vocabulary", what, id));
  }
  return static_cast<std::int32_t>(id);
}

std::string text_from(nb::handle value, std::string_view what) {
  if (!is_text(value)) refuse_type(value, what, "str");
  Py_ssize_t size = 0;
  if (const char* text = PyUnicode_AsUTF8AndSize(value.ptr(), &size)) return {text, static_cast<std::size_t>(size)};
  // The text has lone surrogates, which PyUnicode_AsUTF8AndSize() refuses.
  PyErr_Clear();
  const nb::object bytes = nb::steal(PyUnicode_AsEncodedString(value.ptr(), "utf-8", "surrogatepass"));
  if (!bytes.is_valid()) throw nb::python_error();
  return {PyBytes_AsString(bytes.ptr()), static_cast<std::size_t>(PyBytes_Size(bytes.ptr()))};
}

std::vector<std::string> texts_from(nb::list values) {
  std::vector<std::string> texts;
  for (const nb::handle value : values) texts.push_back(text_from(value, fmt::format("text {}", texts.size() + 1)));
  return texts;
}

TokenIds ids_from(nb::handle value, std::string_view what) {
  constexpr std::string_view kExpected = "str or token ids";
  nb::object list = nb::borrow(value);
  if (nb::hasattr(value, "tolist")) list = value.attr("tolist")();
  if (PyList_Check(list.ptr()) == 0 && PyTuple_Check(list.ptr()) == 0) refuse_type(value, what, kExpected);
  TokenIds ids;
  ids.reserve(nb::len(list));
  for (const nb::handle id : list) ids.push_back(token_from(id, what));
  return ids;
}

std::vector<TokenIds> rows_from(nb::handle value, std::string_view what) {
  std::vector<TokenIds> rows;
  for (const nb::handle row : value) rows.push_back(ids_from(row, fmt::format("{} {}", what, rows.size() + 1)));
  return rows;
}

GenerateInput input_from(nb::handle source, nb::handle known, std::size_t number, OnError on_error) {
  // No model accepts this input, so its result is None.
  const GenerateInput bad{.source = TokenIds{-1}};
  if (on_error == OnError::null && is_missing(source)) return bad;
  try {
    GenerateInput input{.source =
                            text_or_ids<decltype(GenerateInput::source)>(source, fmt::format("source {}", number))};
    if (known.is_none()) return input;
    const auto read = [&](nb::handle target, std::string_view what, auto& to) {
      if (target.is_none()) return;
      const std::string name = fmt::format("{} {}", what, number);
      if (is_text(source) != is_text(target)) {
        refuse_type(target, name, is_text(source) ? "str, as the source" : "token ids");
      }
      to = text_or_ids<std::remove_reference_t<decltype(to)>>(target, name);
    };
    read(known[0], "prefix", input.prefix);
    read(known[1], "draft", input.draft);
    return input;
  } catch (const InputError&) {
    if (on_error == OnError::raise) throw;
    return bad;
  }
}

std::vector<GenerateInput> inputs_from(nb::list sources, nb::object known, OnError on_error) {
  std::vector<GenerateInput> inputs;
  inputs.reserve(sources.size());
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const nb::object of_source = known.is_none() ? nb::none() : nb::borrow(known[i]);
    inputs.push_back(input_from(sources[i], of_source, i + 1, on_error));
  }
  return inputs;
}

TextsOrRows texts_or_rows(nb::list values, std::string_view what) {
  std::vector<std::string> texts;
  std::vector<TokenIds> rows;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string name = fmt::format("{} {}", what, i + 1);
    if (is_text(values[i])) {
      texts.push_back(text_from(values[i], name));
    } else {
      rows.push_back(ids_from(values[i], name));
    }
    if (!texts.empty() && !rows.empty()) {
      throw nb::type_error(fmt::format("{}: expected the same kind as before, text or token ids", name).c_str());
    }
  }
  if (!rows.empty()) return rows;
  return texts;
}

}  // namespace encdec::python
