#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "encdec/engine/base/error.h"

namespace encdec {

// Returns text for a message: one line of ASCII with JSON escapes, at most `limit` bytes of `text`.
std::string printable(std::string_view text, std::size_t limit = 100);

// Throws ConfigError ("workers is 0, expected 1 to 1024") unless min <= value <= max.
void check_range(std::string_view name, int value, int min, int max);

// Throws an error about a file: "WHERE: what was found, what was expected". `where` is the file
// name, optionally with a location in the file: "model.npz: array 'x'".
template <class E = FileError, class... Args>
[[noreturn]] void refuse(std::string_view where, fmt::format_string<Args...> what, Args&&... args) {
  throw E(fmt::format("{}: {}", where, fmt::format(what, std::forward<Args>(args)...)));
}

}  // namespace encdec
