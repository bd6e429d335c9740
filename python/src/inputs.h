#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "encdec/models/generation/generate_options.h"

namespace encdec::python {

// The handling of a source that the model does not accept.
enum class OnError : std::uint8_t {
  raise,  // the call raises an error
  null,   // the source's result is None
};

// Returns the bytes of a file name, which need not be valid UTF-8.
inline std::string plain(const nanobind::bytes& name) {
  return {name.c_str(), name.size()};
}

// Returns a str for bytes that need not be valid UTF-8. `errors` is the argument of bytes.decode().
nanobind::object text_of(std::string_view bytes, const char* errors = "replace");

// The functions below convert Python objects. For a wrong type, they throw TypeError; its message begins with `what`.

// Returns `value.__index__()`, an int.
nanobind::object index_of(nanobind::handle value);
// Converts an integer of Python or numpy, but not a bool. Throws ConfigError if the integer has more than 64 bits.
std::int64_t integer_from(nanobind::handle value, std::string_view what);
// Converts a token id. Throws InputError if the id is negative or has more than 31 bits.
std::int32_t token_from(nanobind::handle value, std::string_view what);
// Converts a str to UTF-8. Encodes lone surrogates too: the tokenizer rejects them and reports their position.
std::string text_from(nanobind::handle value, std::string_view what);
// Converts a list of str. Messages number the texts from 1.
std::vector<std::string> texts_from(nanobind::list values);
// Converts a list of token ids or an array of integers.
TokenIds ids_from(nanobind::handle value, std::string_view what);
// Converts a list of lists of token ids.
std::vector<TokenIds> rows_from(nanobind::handle value, std::string_view what);

// Converts a source and `known`: None or a pair (prefix, draft), each of which may be None. `number` is the source's
// number in messages.
GenerateInput input_from(nanobind::handle source, nanobind::handle known, std::size_t number, OnError on_error);
// Converts a list of sources. `known` is None or has a pair (prefix, draft) for each source.
std::vector<GenerateInput> inputs_from(nanobind::list sources, nanobind::object known, OnError on_error);

// Converts a list of texts, or of lists of token ids. Throws TypeError if the list has both.
using TextsOrRows = std::variant<std::vector<std::string>, std::vector<TokenIds>>;
TextsOrRows texts_or_rows(nanobind::list values, std::string_view what);

}  // namespace encdec::python
