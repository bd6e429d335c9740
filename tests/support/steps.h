#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace encdec {

// Steps of this program so far: basic blocks of the libraries of encdec_steps_test() in tests/CMakeLists.txt, and bytes
// that anything looks for with memchr() or copies.
std::size_t steps();

// An input of any size.
struct Repetition {
  const char* begin;
  const char* each;  // n times; "#" is a number from 0 on
  const char* end;

  std::string of_size(std::size_t n) const;
};

// Expects that a function takes steps in proportion to its argument. Sorting adds a factor of log(4n) / log(n).
void expect_linear(const std::function<void(std::size_t)>& function);

}  // namespace encdec
