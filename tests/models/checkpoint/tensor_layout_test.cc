#include "encdec/models/checkpoint/tensor_layout.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "encdec/engine/base/error.h"
#include "tests/models/checkpoint/golden_weights.h"
#include "tests/support/random_tensors.h"

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

TEST(StoredValues, ScalarsOfEveryTypeAreNumbers) {
  WeightStore store("store");
  store.add("float32", tensor_of<float>({}, DataType::float32, {-2.5f}));
  store.add("float64", tensor_of<double>({1}, DataType::float64, {-2.5}));
  store.add("float16", tensor_of<std::uint16_t>({}, DataType::float16, {0xc100}));
  store.add("bfloat16", tensor_of<std::uint16_t>({}, DataType::bfloat16, {0xc020}));
  for (const std::string name : {"float32", "float64", "float16", "bfloat16"}) EXPECT_EQ(scalar(store, name), -2.5);
  store.add("int8", tensor_of<std::int8_t>({}, DataType::int8, {-3}));
  store.add("int16", tensor_of<std::int16_t>({}, DataType::int16, {-3}));
  store.add("int32", tensor_of<std::int32_t>({}, DataType::int32, {-3}));
  store.add("int64", tensor_of<std::int64_t>({1, 1}, DataType::int64, {-3}));
  for (const std::string name : {"int8", "int16", "int32", "int64"}) EXPECT_EQ(scalar(store, name), -3.0);
  store.add("uint8", tensor_of<std::uint8_t>({}, DataType::uint8, {255}));
  EXPECT_EQ(scalar(store, "uint8"), 255.0);
  EXPECT_EQ(scalar(store, "absent"), std::nullopt);
}

TEST(StoredValues, SeveralNumbersAreNotAScalar) {
  WeightStore store("store");
  store.add("two", Tensor::allocate({2}));
  store.add("none", Tensor::allocate({0}));
  store.add("scaled", tensor_of<std::int8_t>({1}, DataType::int8, {1}), Tensor::allocate({1}));
  for (const std::string name : {"two", "none", "scaled"}) EXPECT_THROW(scalar(store, name), WeightError);
}

TEST(StoredValues, BytesAreTextWithoutTrailingZeros) {
  WeightStore store("store");
  store.add("int8", tensor_of<char>({4}, DataType::int8, {'a', '\0', 'b', '\0'}));
  store.add("uint8", tensor_of<char>({2}, DataType::uint8, {'a', 'b'}));
  store.add("zeros", tensor_of<char>({2}, DataType::uint8, {'\0', '\0'}));
  store.add("floats", Tensor::allocate({2}));
  EXPECT_EQ(text(store, "int8"), std::string("a\0b", 3));
  EXPECT_EQ(text(store, "uint8"), "ab");
  EXPECT_EQ(text(store, "zeros"), "");
  EXPECT_EQ(text(store, "absent"), std::nullopt);
  EXPECT_THROW(text(store, "floats"), WeightError);
}

}  // namespace
}  // namespace encdec
