#include "tests/support/steps.h"

#include <gtest/gtest.h>

namespace {
std::size_t count = 0;
}  // namespace

extern "C" {
void __sanitizer_cov_trace_pc() {
  ++count;
}
// They take the place of the C library's, also in libraries.
const void* counted_memchr(const void* begin, int byte, std::size_t size) noexcept __asm__("memchr");
const void* counted_memchr(const void* begin, int byte, std::size_t size) noexcept {
  const auto* bytes = static_cast<const volatile unsigned char*>(begin);
  for (std::size_t i = 0; i < size; ++i, ++count) {
    if (bytes[i] == static_cast<unsigned char>(byte)) return static_cast<const unsigned char*>(begin) + i;
  }
  return nullptr;
}
void* counted_memmove(void* to, const void* from, std::size_t size) noexcept __asm__("memmove");
void* counted_memmove(void* to, const void* from, std::size_t size) noexcept {
  auto* written = static_cast<volatile unsigned char*>(to);
  const auto* read = static_cast<const volatile unsigned char*>(from);
  const bool is_before = to < from;
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t k = is_before ? i : size - 1 - i;
    written[k] = read[k];
  }
  count += size;
  return to;
}
void* counted_memcpy(void* to, const void* from, std::size_t size) noexcept __asm__("memcpy");
void* counted_memcpy(void* to, const void* from, std::size_t size) noexcept {
  return counted_memmove(to, from, size);
}
}

namespace encdec {

std::size_t steps() {
  return count;
}

std::string Repetition::of_size(std::size_t n) const {
  std::string all(begin);
  for (std::size_t i = 0; i < n; ++i) {
    for (const char* c = each; *c != '\0'; ++c) all += *c == '#' ? std::to_string(i) : std::string(1, *c);
  }
  return all + end;
}

void expect_linear(const std::function<void(std::size_t)>& function) {
  constexpr std::size_t kSmall = 1000, kLinear = 6;
  const auto steps_of = [&](std::size_t n) {
    const std::size_t before = steps();
    function(n);
    return steps() - before;
  };
  const std::size_t small = steps_of(kSmall);
  EXPECT_GE(small, kSmall);
  EXPECT_LT(steps_of(4 * kSmall), kLinear * small);
}

}  // namespace encdec
