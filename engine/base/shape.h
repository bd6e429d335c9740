#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace encdec {

// One dimension: a size >= 0, or a negative symbol (below) whose size is known only at run time.
using Dim = std::int64_t;

// Letters for the dimensions of a Transformer:
//   B  sequences in the batch    D  model
//   S  source rows               H  heads
//   T  target rows               K  head dimension
//   R  rows: S or T              F  hidden
//                                V  vocabulary
// S and T count packed rows: the tokens of all sequences one after another, without padding. So the
// cost of a sequence does not depend on the other sequences of the batch.
// Some comments define letters of their own. In a matrix product, for example, K is the number of
// inputs and N the number of outputs, as in BLAS.
inline constexpr Dim kBatch = -1;
inline constexpr Dim kSourceRows = -2;
inline constexpr Dim kTargetRows = -3;

// Sizes of the symbols in one run.
struct Symbols {
  Dim batch = 0;        // B
  Dim source_rows = 0;  // S
  Dim target_rows = 0;  // T

  // Returns `dim` if it is a size, otherwise the size of the symbol.
  Dim value(Dim dim) const;

  friend bool operator==(const Symbols& a, const Symbols& b) = default;
};

// Up to four dimensions, row-major. A value type that never allocates.
class Shape {
 public:
  static constexpr int kMaxRank = 4;

  Shape() = default;  // rank 0: a scalar
  // Throw ShapeError if there are more than kMaxRank dimensions.
  Shape(std::initializer_list<Dim> dims);
  explicit Shape(std::span<const Dim> dims);

  // Number of dimensions.
  int rank() const { return rank_; }
  // A negative axis counts from the end.
  Dim operator[](int axis) const;
  std::span<const Dim> dims() const { return {dims_.data(), static_cast<std::size_t>(rank_)}; }
  Dim last() const { return (*this)[-1]; }

  bool is_symbolic() const;
  Shape bind(const Symbols& symbols) const;  // replaces symbols by sizes
  // Returns the product of the dimensions, 1 for a scalar. REQUIRES: !is_symbolic().
  std::int64_t elements() const;

  friend bool operator==(const Shape& a, const Shape& b) = default;

 private:
  std::array<Dim, kMaxRank> dims_{};
  int rank_ = 0;
};

// Returns the shape as text: "[S, 512]".
std::string to_string(const Shape& shape);

}  // namespace encdec
