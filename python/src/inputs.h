#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "encdec/models/generation/generate_options.h"
#include "on_error.h"

namespace encdec::python {

// Bytes that need not be UTF-8, as a str; `errors` is as in bytes.decode().
nanobind::object text_of(std::string_view bytes, const char* errors = "replace");

// What Python's objects stand for. All throw TypeError, naming what was got and what was expected, for a wrong type;
// `what` begins the message.

// An integer, but no bool; also numpy's. ConfigError if it does not fit.
std::int64_t integer_from(nanobind::handle value, std::string_view what);
// A token id; InputError if no vocabulary could have it.
std::int32_t token_from(nanobind::handle value, std::string_view what);
// The UTF-8 of a str. What UTF-8 cannot spell is spelled nevertheless: tokenizers say where it stands.
std::string text_from(nanobind::handle value, std::string_view what);
// A list of str; messages count them from 1.
std::vector<std::string> texts_from(nanobind::list values);
// A list of ids, or an array of integers.
TokenIds ids_from(nanobind::handle value, std::string_view what);
std::vector<TokenIds> rows_from(nanobind::handle value, std::string_view what);

// A source, and what its result begins with, or None.
GenerateInput input_from(nanobind::handle source, nanobind::handle prefix, std::size_t number, OnError on_error);
// Sources, and as many prefixes or None.
std::vector<GenerateInput> inputs_from(nanobind::list sources, nanobind::object prefixes, OnError on_error);

// Texts, or token ids, but not both.
using TextsOrRows = std::variant<std::vector<std::string>, std::vector<TokenIds>>;
TextsOrRows texts_or_rows(nanobind::list values, std::string_view what);

}  // namespace encdec::python
