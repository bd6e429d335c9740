#include "encdec/models/tokenizer/pipeline/serde_number.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace encdec {
namespace {

constexpr int kLargestPower = 308;

double power_of_ten(int exponent) {
  static const std::array<double, kLargestPower + 1> powers = [] {
    std::array<double, kLargestPower + 1> result{};
    for (int i = 0; i <= kLargestPower; ++i) {
      const std::string text = fmt::format("1e{}", i);
      std::from_chars(text.data(), text.data() + text.size(), result[static_cast<std::size_t>(i)]);
    }
    return result;
  }();
  return powers[static_cast<std::size_t>(exponent)];
}

// The number significand * 10^exponent. Digits that do not fit into the significand are dropped.
struct Digits {
  std::uint64_t significand = 0;
  std::int64_t exponent = 0;
};

Digits read_digits(std::string_view digits) {
  Digits result;
  bool is_full = false;
  bool is_fraction = false;
  for (const char c : digits) {
    if (c == '.') {
      is_fraction = true;
      continue;
    }
    const auto digit = static_cast<std::uint64_t>(c - '0');
    is_full = is_full || result.significand > (std::numeric_limits<std::uint64_t>::max() - digit) / 10;
    if (!is_full) result.significand = result.significand * 10 + digit;
    if (is_full != is_fraction) result.exponent += is_full ? 1 : -1;
  }
  return result;
}

}  // namespace

std::optional<double> read_serde_number(std::string_view json) {
  const bool is_negative = json.starts_with('-');
  if (is_negative) json.remove_prefix(1);
  const std::size_t end = std::min(json.find_first_of("eE"), json.size());
  auto [significand, exponent] = read_digits(json.substr(0, end));
  if (end < json.size()) {
    std::string_view written = json.substr(end + 1);
    if (written.starts_with('+')) written.remove_prefix(1);
    std::int32_t value = 0;
    const auto [rest, error] = std::from_chars(written.data(), written.data() + written.size(), value);
    const bool is_tiny = written.starts_with('-');
    exponent += error == std::errc() ? value
                : is_tiny            ? std::numeric_limits<std::int32_t>::min() / 2
                                     : std::numeric_limits<std::int32_t>::max() / 2;
  }
  auto number = static_cast<double>(significand);
  while (exponent < -kLargestPower && number != 0) {
    number /= power_of_ten(kLargestPower);
    exponent += kLargestPower;
  }
  if (number != 0 && exponent > kLargestPower) return std::nullopt;
  if (number != 0) {
    const double power = power_of_ten(static_cast<int>(std::abs(exponent)));
    number = exponent >= 0 ? number * power : number / power;
  }
  if (std::isinf(number)) return std::nullopt;
  return is_negative ? -number : number;
}

}  // namespace encdec
