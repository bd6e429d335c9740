#include "encdec/models/checkpoint/tensor_layout.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace encdec {
namespace {

using Sizes = std::vector<std::uint64_t>;

TEST(TensorLayout, CountsElementsUnlessTheyOverflow) {
  EXPECT_EQ(checked_elements(Sizes{}), 1u);
  EXPECT_EQ(checked_elements(Sizes{2, 3}), 6u);
  EXPECT_EQ(checked_elements(Sizes{0, 3}), 0u);
  EXPECT_EQ(checked_elements(Sizes{INT64_MAX}), std::uint64_t{INT64_MAX});
  EXPECT_EQ(checked_elements(Sizes{1ull << 63}), std::nullopt);
  EXPECT_EQ(checked_elements(Sizes{1ull << 32, 1ull << 32}), std::nullopt);
  EXPECT_EQ(checked_elements(Sizes{(1ull << 63) + 2, 2}), std::nullopt);
  EXPECT_EQ(checked_elements(Sizes{0, 1ull << 32, 1ull << 32}), std::nullopt);
}

TEST(TensorLayout, ExtentEndsAfterTheLastElement) {
  EXPECT_EQ(extent({Sizes{2, 3}, Sizes{3, 1}, 4}), 10u);
  EXPECT_EQ(extent({Sizes{}, Sizes{}, 4}), 5u);
  EXPECT_EQ(extent({Sizes{0, 3}, Sizes{3, 1}, 4}), 0u);
  EXPECT_EQ(extent({Sizes{1}, Sizes{UINT64_MAX}, 0}), 1u);
  EXPECT_EQ(extent({Sizes{2}, Sizes{UINT64_MAX}, 0}), std::nullopt);
  EXPECT_EQ(extent({Sizes{1ull << 33}, Sizes{1ull << 33}, 0}), std::nullopt);
  EXPECT_EQ(extent({Sizes{}, Sizes{}, UINT64_MAX}), std::nullopt);
}

TEST(TensorLayout, RowMajorTensorsAreViewsAndOthersCopies) {
  std::vector<float> values = {0, 1, 2, 3, 4, 5, 6};
  const auto run = std::as_bytes(std::span(values));
  const StoredType type = {32, DataType::float32};
  const Tensor view = stored_tensor(run, type, {Sizes{2, 3}, Sizes{3, 1}, 1}, nullptr);
  EXPECT_EQ(view.data<float>(), values.data() + 1);
  const Tensor copy = stored_tensor(run, type, {Sizes{3, 2}, Sizes{1, 3}, 1}, nullptr);
  EXPECT_EQ(std::vector<float>(copy.data<float>(), copy.data<float>() + 6), std::vector<float>({1, 4, 2, 5, 3, 6}));
  const Tensor bytes = stored_tensor(run, {.bits = 64}, {Sizes{3}, Sizes{1}, 0}, nullptr);
  EXPECT_EQ(bytes.type(), DataType::uint8);
  EXPECT_EQ(bytes.shape(), Shape({24}));
}

}  // namespace
}  // namespace encdec
