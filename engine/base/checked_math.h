#pragma once

#include <concepts>
#include <optional>

namespace encdec {

// Sums and products of sizes that come from files; nullopt if the result does not fit the type. All arithmetic on such
// sizes uses these functions.
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
