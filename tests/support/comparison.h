#pragma once

#include <gtest/gtest.h>

#include "encdec/engine/base/tensor.h"
#include "tests/support/naive_reference.h"

namespace encdec {

// Every element within the reference's error bound. Refuses to compare where that would prove little: if almost all
// expected values are zero, or if a typical bound is not small beside the values.
testing::AssertionResult is_close_to(const reference::Matrix& expected, const Tensor& actual);

// Every element equal to the reference's value; for integer-valued data. Refuses where almost all values are zero.
testing::AssertionResult equals(const reference::Matrix& expected, const Tensor& actual);

// The same type, shape and bits.
testing::AssertionResult same_bits(const Tensor& expected, const Tensor& actual);

}  // namespace encdec
