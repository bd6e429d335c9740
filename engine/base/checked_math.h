#pragma once

#include <concepts>
#include <optional>

namespace encdec {

// Return a + b and a * b, or nullopt on overflow. Used for all sizes that come from files.
template <std::unsigned_integral T>
constexpr std::optional<T> checked_add(T a, T b) {
  T result;
  if (__builtin_add_overflow(a, b, &result)) return std::nullopt;
  return result;
}

template <std::unsigned_integral T>
constexpr std::optional<T> checked_multiply(T a, T b) {
  T result;
  if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
  return result;
}

}  // namespace encdec
