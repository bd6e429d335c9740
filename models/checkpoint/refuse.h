#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "encdec/engine/base/error.h"
#include "encdec/models/checkpoint/printable.h"

namespace encdec {

// Throws what a reader has to say of a file, as "WHERE: what was found, what was expected". `where` is the file and
// perhaps a place in it: "model.npz: array 'x'".
template <class E = FileError, class... Args>
[[noreturn]] void refuse(std::string_view where, fmt::format_string<Args...> what, Args&&... args) {
  throw E(fmt::format("{}: {}", where, fmt::format(what, std::forward<Args>(args)...)));
}

}  // namespace encdec
