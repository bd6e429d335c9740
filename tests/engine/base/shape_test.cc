#include "encdec/engine/base/shape.h"

#include <gtest/gtest.h>

#include <array>

#include "encdec/engine/base/checked_math.h"
#include "encdec/engine/base/error.h"

namespace encdec {
namespace {

TEST(Shape, CountsAxesFromBothEnds) {
  const Shape shape{2, 3, 5};
  EXPECT_EQ(shape.rank(), 3);
  EXPECT_EQ(shape[0], 2);
  EXPECT_EQ(shape[-1], 5);
  EXPECT_EQ(shape[-3], 2);
  EXPECT_EQ(shape.last(), 5);
}

TEST(Shape, ElementsAreTheProductOfTheDimensions) {
  EXPECT_EQ(Shape().elements(), 1);
  EXPECT_EQ(Shape({7}).elements(), 7);
  EXPECT_EQ(Shape({2, 3, 5, 7}).elements(), 210);
  EXPECT_EQ(Shape({4, 0, 5}).elements(), 0);
}

TEST(Shape, ComparesRankAndDimensions) {
  EXPECT_EQ(Shape({2, 3}), Shape({2, 3}));
  EXPECT_NE(Shape({2, 3}), Shape({3, 2}));
  EXPECT_NE(Shape({2}), Shape({2, 0}));
  EXPECT_NE(Shape(), Shape({0}));
}

TEST(Shape, HasAtMostFourDimensions) {
  EXPECT_NO_THROW(Shape({1, 1, 1, 1}));
  const std::array<Dim, 5> dims = {1, 1, 1, 1, 1};
  try {
    const Shape shape{std::span<const Dim>(dims)};
    ADD_FAILURE() << "no exception";
  } catch (const ShapeError& error) {
    EXPECT_STREQ(error.what(), "shape of 5 dimensions, expected at most 4");
  }
}

TEST(Shape, BindingReplacesEverySymbolByItsSize) {
  const Shape shape{kBatch, kSourceRows, kTargetRows, 8};
  EXPECT_TRUE(shape.is_symbolic());
  const Shape bound = shape.bind({.batch = 2, .source_rows = 30, .target_rows = 0});
  EXPECT_EQ(bound, Shape({2, 30, 0, 8}));
  EXPECT_FALSE(bound.is_symbolic());
}

TEST(Shape, TextShowsSymbolsAsLetters) {
  EXPECT_EQ(to_string(Shape()), "[]");
  EXPECT_EQ(to_string(Shape{512}), "[512]");
  EXPECT_EQ(to_string(Shape{kBatch, kSourceRows, kTargetRows, 7}), "[B, S, T, 7]");
}

TEST(CheckedMath, ReportsOverflow) {
  EXPECT_EQ(checked_add<std::uint64_t>(2, 3), 5u);
  EXPECT_EQ(checked_add<std::uint64_t>(UINT64_MAX, 0), UINT64_MAX);
  EXPECT_EQ(checked_add<std::uint64_t>(UINT64_MAX, 1), std::nullopt);
  EXPECT_EQ(checked_multiply<std::uint64_t>(1ull << 32, (1ull << 32) - 1), 0xFFFFFFFF00000000u);
  EXPECT_EQ(checked_multiply<std::uint64_t>(1ull << 32, 1ull << 32), std::nullopt);
  EXPECT_EQ(checked_multiply<std::uint64_t>(0, UINT64_MAX), 0u);
}

}  // namespace
}  // namespace encdec
