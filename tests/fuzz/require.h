#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

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

}  // namespace encdec
