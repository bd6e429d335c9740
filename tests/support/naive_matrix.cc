// The Matrix of the naive reference: conversion from tensors, slices and concatenation.
#include <cmath>
#include <stdexcept>

#include "tests/support/naive_reference.h"

namespace encdec::reference {
namespace {

// Returns the value of a 16-bit float with `exponent_bits` bits of exponent and `mantissa_bits` bits of mantissa.
double small_float(std::uint16_t bits, int exponent_bits, int mantissa_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = (bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
  const int mantissa = bits & ((1 << mantissa_bits) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == (1 << exponent_bits) - 1) throw std::invalid_argument("infinity or NaN in a reference's input");
  const double fraction = std::ldexp(mantissa, -mantissa_bits);
  return sign * (exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1.0 + fraction, exponent - bias));
}

}  // namespace

double element(const Tensor& tensor, std::int64_t index) {
  const void* data = tensor.raw();
  const auto i = static_cast<std::size_t>(index);
  switch (tensor.type()) {
    case DataType::float32: return static_cast<const float*>(data)[i];
    case DataType::int32: return static_cast<const std::int32_t*>(data)[i];
    case DataType::float16: return small_float(static_cast<const std::uint16_t*>(data)[i], 5, 10);
    case DataType::bfloat16: return small_float(static_cast<const std::uint16_t*>(data)[i], 8, 7);
    default: throw std::invalid_argument("a reference's input of another type");
  }
}

Matrix::Matrix(std::int64_t row_count, std::int64_t column_count)
    : rows(row_count),
      columns(column_count),
      values(static_cast<std::size_t>(row_count * column_count)),
      errors(values.size()) {}

Matrix::Matrix(const Tensor& tensor)
    : Matrix(tensor.shape().rank() == 1 ? 1 : tensor.shape()[0], tensor.shape()[tensor.shape().rank() - 1]) {
  for (std::int64_t i = 0; i < rows * columns; ++i) values[static_cast<std::size_t>(i)] = element(tensor, i);
}

Matrix Matrix::slice_rows(std::int64_t first, std::int64_t count) const {
  Matrix part(count, columns);
  for (std::int64_t r = 0; r < count; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) {
      part.at(r, c) = at(first + r, c);
      part.error(r, c) = error(first + r, c);
    }
  }
  return part;
}

Matrix Matrix::slice_columns(std::int64_t first, std::int64_t count) const {
  Matrix part(rows, count);
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < count; ++c) {
      part.at(r, c) = at(r, first + c);
      part.error(r, c) = error(r, first + c);
    }
  }
  return part;
}

Matrix Matrix::reshaped(std::int64_t column_count) const {
  Matrix result = *this;
  result.rows = static_cast<std::int64_t>(values.size()) / column_count;
  result.columns = column_count;
  return result;
}

Matrix stack(std::span<const Matrix> parts) {
  Matrix all(0, parts.front().columns);
  for (const Matrix& part : parts) {
    if (part.columns != all.columns) throw std::invalid_argument("stack: widths differ");
    all.rows += part.rows;
    all.values.insert(all.values.end(), part.values.begin(), part.values.end());
    all.errors.insert(all.errors.end(), part.errors.begin(), part.errors.end());
  }
  return all;
}

Matrix beside(const Matrix& left, const Matrix& right) {
  if (left.rows != right.rows) throw std::invalid_argument("beside: heights differ");
  Matrix both(left.rows, left.columns + right.columns);
  for (std::int64_t r = 0; r < both.rows; ++r) {
    for (std::int64_t c = 0; c < both.columns; ++c) {
      const bool in_left = c < left.columns;
      both.at(r, c) = in_left ? left.at(r, c) : right.at(r, c - left.columns);
      both.error(r, c) = in_left ? left.error(r, c) : right.error(r, c - left.columns);
    }
  }
  return both;
}

}  // namespace encdec::reference
