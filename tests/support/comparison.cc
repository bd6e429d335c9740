#include "tests/support/comparison.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace encdec {
namespace {

using reference::Matrix;

// Requires that a tenth of the values are not zero: a wrong formula could compute zeros too.
testing::AssertionResult says_something(const Matrix& expected) {
  const auto zeros = std::ranges::count(expected.values, 0.0);
  const auto count = static_cast<std::ptrdiff_t>(expected.values.size());
  if (10 * (count - zeros) >= count) return testing::AssertionSuccess();
  return testing::AssertionFailure() << zeros << " of " << count << " expected values are zero: this compares nothing";
}

testing::AssertionResult same_shape(const Matrix& expected, const Tensor& actual) {
  if (actual.type() == DataType::float32 && actual.rows() == expected.rows && actual.width() == expected.columns) {
    return testing::AssertionSuccess();
  }
  if (actual.elements() == 0 && expected.values.empty()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << to_string(actual.type()) << " " << to_string(actual.shape())
                                     << ", expected float32 [" << expected.rows << ", " << expected.columns << "]";
}

// `tolerance(i)` is the maximum absolute error of element i.
template <class Tolerance>
testing::AssertionResult compare(const Matrix& expected, const Tensor& actual, Tolerance tolerance) {
  if (auto result = same_shape(expected, actual); !result) return result;
  if (auto result = says_something(expected); !result) return result;
  for (std::size_t i = 0; i < expected.values.size(); ++i) {
    const double got = actual.data<float>()[i];
    if (std::abs(got - expected.values[i]) <= tolerance(i)) continue;  // false for NaN
    const auto columns = static_cast<std::size_t>(expected.columns);
    return testing::AssertionFailure() << "row " << i / columns << ", column " << i % columns << ": " << got
                                       << ", expected " << expected.values[i] << " +- " << tolerance(i) << ", off by "
                                       << got - expected.values[i];
  }
  return testing::AssertionSuccess();
}

}  // namespace

testing::AssertionResult is_close_to(const Matrix& expected, const Tensor& actual) {
  double squares = 0.0;
  for (const double value : expected.values) squares += value * value;
  std::vector<double> errors = expected.errors;
  if (!errors.empty()) {
    const auto middle = errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2);
    std::ranges::nth_element(errors, middle);
    const double typical = std::sqrt(squares / static_cast<double>(errors.size()));
    if (*middle > 0.01 * typical) {
      return testing::AssertionFailure() << "half of the bounds are above " << *middle << " for values of about "
                                         << typical << ": too loose";
    }
  }
  return compare(expected, actual, [&](std::size_t i) { return expected.errors[i]; });
}

testing::AssertionResult equals(const Matrix& expected, const Tensor& actual) {
  return compare(expected, actual, [](std::size_t) { return 0.0; });
}

double largest_difference(const Tensor& a, const Tensor& b) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (a.shape() != b.shape()) return kInfinity;
  double largest = 0;
  for (std::int64_t i = 0; i < a.elements(); ++i) {
    const double difference = std::abs(double{a.data<float>()[i]} - double{b.data<float>()[i]});
    largest = std::isnan(difference) ? kInfinity : std::max(largest, difference);
  }
  return largest;
}

testing::AssertionResult same_bits(const Tensor& expected, const Tensor& actual) {
  if (expected.type() != actual.type() || expected.shape() != actual.shape()) {
    return testing::AssertionFailure() << to_string(actual.type()) << " " << to_string(actual.shape()) << ", expected "
                                       << to_string(expected.type()) << " " << to_string(expected.shape());
  }
  const std::size_t bytes = expected.bytes();
  if (bytes == 0 || std::memcmp(expected.raw(), actual.raw(), bytes) == 0) return testing::AssertionSuccess();
  const std::size_t size = size_of(expected.type());
  const auto width = static_cast<std::size_t>(expected.width());
  std::size_t different = 0, first = 0;
  for (std::size_t i = bytes / size; i-- > 0;) {
    if (std::memcmp(expected.raw() + i * size, actual.raw() + i * size, size) == 0) continue;
    ++different;
    first = i;
  }
  auto result = testing::AssertionFailure()
                << different << " of " << bytes / size << " elements have other bits, first row " << first / width
                << ", column " << first % width;
  if (expected.type() == DataType::float32) {
    result << ": " << testing::PrintToString(actual.data<float>()[first]) << ", expected "
           << testing::PrintToString(expected.data<float>()[first]);
  }
  return result;
}

}  // namespace encdec
