#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "encdec/engine/base/error.h"

namespace encdec {

// Aborts the program, which a fuzzer reports as a crash, if `kept` is false.
inline void require(bool kept, std::string_view promise) {
  if (kept) return;
  std::fprintf(stderr, "broken promise: %.*s\n", static_cast<int>(promise.size()), promise.data());
  std::abort();
}

// Requires that a message begins with the file's name and is one short line.
inline void require_good_message(std::string_view message, std::string_view file) {
  require(message.starts_with(file) && message.substr(file.size()).starts_with(": "), "a message names its file");
  require(message.find_first_of("\n\r\033") == message.npos, "a message is one line");
  require(message.size() < 2000, "a message is short");
}

// Calls `read`, which may throw an E. Requires that its message is good. Returns whether nothing was thrown.
template <class E = FileError, class Read>
bool reads_or_refuses(std::string_view file, const Read& read) {
  try {
    read();
    return true;
  } catch (const E& error) {
    require_good_message(error.what(), file);
  }
  return false;
}

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace encdec
