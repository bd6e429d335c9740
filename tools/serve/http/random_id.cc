#include "serve/http/random_id.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <array>
#include <cstdint>

namespace encdec::serve {

std::string random_id() {
  std::array<std::uint64_t, 2> words = {};
  [[maybe_unused]] const auto filled = ::getrandom(words.data(), sizeof words, 0);  // never fails for up to 256 bytes
  return fmt::format("{:016x}{:016x}", words[0], words[1]);
}

}  // namespace encdec::serve
