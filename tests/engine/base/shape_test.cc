#include "encdec/engine/base/shape.h"

#include <gtest/gtest.h>

#include <array>

#include "encdec/engine/base/checked_math.h"
#include "encdec/engine/base/error.h"
#include "tests/support/message_of.h"

namespace encdec {
namespace {

TEST(Shape, HasSizesFromBothEndsAndComparesThem) {
  const Shape shape{2, 3, 5};
  EXPECT_EQ(shape[-3], 2);
  EXPECT_EQ(shape[-1], 5);
  EXPECT_EQ(shape.elements(), 30);
  EXPECT_EQ(Shape().elements(), 1);
  EXPECT_EQ(Shape({4, 0, 5}).elements(), 0);
  EXPECT_NE(Shape({2}), Shape({2, 0}));
  EXPECT_NE(Shape(), Shape({0}));
}

TEST(Shape, HasAtMostFourDimensions) {
  const std::array<Dim, 5> dims = {1, 1, 1, 1, 1};
  EXPECT_NO_THROW(Shape(std::span(dims).first(4)));
  EXPECT_EQ(message_of<ShapeError>([&] { Shape{std::span<const Dim>(dims)}; }),
            "shape of 5 dimensions, expected at most 4");
}

TEST(Shape, BindingReplacesEverySymbolByItsSize) {
  const Shape shape{kBatch, kSourceRows, kTargetRows, 8};
  EXPECT_TRUE(shape.is_symbolic());
  EXPECT_EQ(to_string(shape), "[B, S, T, 8]");
  const Shape bound = shape.bind({.batch = 2, .source_rows = 30, .target_rows = 0});
  EXPECT_EQ(bound, Shape({2, 30, 0, 8}));
  EXPECT_FALSE(bound.is_symbolic());
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
