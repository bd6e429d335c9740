#pragma once

#include <fmt/format.h>
#include <sys/random.h>

#include <array>
#include <cstdint>
#include <string>

namespace encdec::serve {

// Returns 32 random hexadecimal digits, which cannot be guessed.
inline std::string random_id() {
  std::array<std::uint64_t, 2> words = {};
  [[maybe_unused]] const auto filled = ::getrandom(words.data(), sizeof words, 0);  // never fails for up to 256 bytes
  return fmt::format("{:016x}{:016x}", words[0], words[1]);
}

}  // namespace encdec::serve
