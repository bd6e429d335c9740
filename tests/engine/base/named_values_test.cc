#include "encdec/engine/base/named_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace encdec {
namespace {

enum class Size { small, large };

constexpr std::array kSizes = {Named{Size::large, "large"}, Named{Size::small, "small"}};

TEST(NamedValues, ATableIsReadInBothDirections) {
  static_assert(name_of(kSizes, Size::small) == "small");
  static_assert(value_named<Size>(kSizes, "large") == Size::large);
  static_assert(!value_named<Size>(kSizes, "Large"));
  EXPECT_THAT(names_of(kSizes), testing::ElementsAre("large", "small"));
}

}  // namespace
}  // namespace encdec
