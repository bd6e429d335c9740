#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "encdec/models/generation/generate_options.h"

namespace encdec::python {

// The treatment of a source that the model does not accept.
enum class OnError : std::uint8_t {
  raise,  // the call ends with an error
  null,   // the result of the source is None
};

// Returns the bytes of a file name, which may not be UTF-8.
inline std::string plain(const nanobind::bytes& name) {
  return {name.c_str(), name.size()};
}

// Returns a str for bytes that may not be valid UTF-8. `errors` is that of bytes.decode().
nanobind::object text_of(std::string_view bytes, const char* errors = "replace");

// The functions below convert Python objects. Each throws TypeError for an object of a wrong type. `what` names the
// object at the beginning of the message.

// Returns `value.__index__()`, an int.
nanobind::object index_of(nanobind::handle value);
// Converts an integer of Python or numpy, but not a bool. Throws ConfigError if it has more than 64 bits.
std::int64_t integer_from(nanobind::handle value, std::string_view what);
// Converts a token id. Throws InputError if it is negative or has more than 31 bits.
std::int32_t token_from(nanobind::handle value, std::string_view what);
// Converts a str to UTF-8. Lone surrogates, which UTF-8 does not allow, are encoded like other characters: the
// tokenizer refuses them and reports their position.
std::string text_from(nanobind::handle value, std::string_view what);
// Converts a list of str. Messages count the texts from 1.
std::vector<std::string> texts_from(nanobind::list values);
// Converts a list of token ids or an array of integers.
TokenIds ids_from(nanobind::handle value, std::string_view what);
// Converts a list of such lists.
std::vector<TokenIds> rows_from(nanobind::handle value, std::string_view what);

// Converts a source. `known` is what is known of its result, (prefix, draft), each of which may be None, or is None.
// `number` is the source's number in messages.
GenerateInput input_from(nanobind::handle source, nanobind::handle known, std::size_t number, OnError on_error);
// Converts a list of sources. `known` has such a pair for each source, or is None.
std::vector<GenerateInput> inputs_from(nanobind::list sources, nanobind::object known, OnError on_error);

// Converts a list of texts or a list of lists of token ids. Throws TypeError for a mixture.
using TextsOrRows = std::variant<std::vector<std::string>, std::vector<TokenIds>>;
TextsOrRows texts_or_rows(nanobind::list values, std::string_view what);

}  // namespace encdec::python
