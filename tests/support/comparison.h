#pragma once

#include <gtest/gtest.h>

#include "encdec/engine/base/tensor.h"
#include "tests/support/naive_reference.h"

namespace encdec {

// Succeeds if every element is within the reference's error bound. Fails also if the comparison would prove little: if
// more than 9 of 10 expected values are zero, or if half of the bounds are above 1 % of a typical value.
testing::AssertionResult is_close_to(const reference::Matrix& expected, const Tensor& actual);

// Succeeds if every element equals the reference's value. For integer-valued data. Fails also if more than 9 of 10
// expected values are zero.
testing::AssertionResult equals(const reference::Matrix& expected, const Tensor& actual);

// Returns the largest difference of two elements; infinite if the shapes differ or a difference is NaN.
double largest_difference(const Tensor& a, const Tensor& b);

// Succeeds if type, shape and all bits are the same.
testing::AssertionResult same_bits(const Tensor& expected, const Tensor& actual);

}  // namespace encdec
