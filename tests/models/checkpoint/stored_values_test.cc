#include <gtest/gtest.h>

#include <cstring>

#include "encdec/engine/base/error.h"
#include "encdec/models/checkpoint/tensor_layout.h"
#include "tests/models/checkpoint/golden_weights.h"

namespace encdec {
namespace {

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
