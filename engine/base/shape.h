#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace encdec {

// One dimension: a size >= 0, or one of the symbols below, which get their values when a graph runs.
using Dim = std::int64_t;

// The legend of the project: B sequences in the batch, S source rows, T target rows, D model, H heads, K head
// dimension, F hidden, V vocabulary. S and T count packed rows: the tokens of all sequences one after another,
// without padding, so a sequence's neighbours never add work to it.
inline constexpr Dim kBatch = -1;
inline constexpr Dim kSourceRows = -2;
inline constexpr Dim kTargetRows = -3;

// The values of the symbols in one run.
struct Symbols {
  Dim batch = 0;        // B
  Dim source_rows = 0;  // S
  Dim target_rows = 0;  // T

  // `dim` itself where it is a size, else the symbol's value.
  Dim value(Dim dim) const;

  friend bool operator==(const Symbols& a, const Symbols& b) = default;
};

// Up to four dimensions, row-major. A value type that never allocates.
class Shape {
 public:
  static constexpr int kMaxRank = 4;  // dimensions at most

  Shape() = default;  // rank 0: a scalar
  // Throws ShapeError if there are more than kMaxRank dimensions.
  Shape(std::initializer_list<Dim> dims);
  // Throws ShapeError if there are more than kMaxRank dimensions.
  explicit Shape(std::span<const Dim> dims);

  int rank() const { return rank_; }  // how many dimensions
  // Dimension `axis`; negative counts from the end.
  Dim operator[](int axis) const;
  // All, the outermost first.
  std::span<const Dim> dims() const { return {dims_.data(), static_cast<std::size_t>(rank_)}; }
  Dim last() const { return (*this)[-1]; }  // the innermost

  bool is_symbolic() const;                  // whether a dimension is a symbol
  Shape bind(const Symbols& symbols) const;  // the same with the symbols' values
  // Product of the dimensions, 1 for a scalar. Only for shapes that are not symbolic.
  std::int64_t elements() const;

  friend bool operator==(const Shape& a, const Shape& b) = default;

 private:
  std::array<Dim, kMaxRank> dims_{};
  int rank_ = 0;
};

// "[S, 512]"
std::string to_string(const Shape& shape);

}  // namespace encdec
