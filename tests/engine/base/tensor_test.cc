#include "encdec/engine/base/tensor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "encdec/engine/base/error.h"
#include "tests/support/message_of.h"
#include "tests/support/random_tensors.h"

namespace encdec {
namespace {

Tensor counting(const Shape& shape) {
  Tensor tensor = Tensor::allocate(shape);
  std::iota(tensor.data<float>(), tensor.data<float>() + tensor.elements(), 0.0f);
  return tensor;
}

TEST(Tensor, NewMemoryIsZeroAndAligned) {
  for (const Dim size : {0, 1, 3, 63, 64, 1000}) {
    for (const DataType type : {DataType::float32, DataType::int8, DataType::float16, DataType::int64}) {
      const Tensor tensor = Tensor::allocate({size, 3}, type);
      ASSERT_NE(tensor.raw(), nullptr);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.raw()) % Tensor::kAlignment, 0u);
      for (std::size_t i = 0; i < tensor.bytes(); ++i) ASSERT_EQ(tensor.raw()[i], std::byte{0});
    }
  }
}

TEST(Tensor, TheErrorForTooLittleMemoryGivesTheSize) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the allocators of sanitizers end the program";
#endif
  EXPECT_EQ(message_of<OutOfMemory>([] {
              Tensor::allocate({1 << 20, 1 << 20, 256});  // more than a process can address
            }),
            "out of memory: a tensor of shape [1048576, 1048576, 256] takes 1125899906842688 bytes");
  EXPECT_STREQ(message_of(static_cast<const std::bad_alloc&>(OutOfMemory("a size"))), "a size");
  EXPECT_STREQ(message_of(std::bad_alloc()), "out of memory");
}

TEST(Tensor, RowsAreTheProductOfAllButTheLastDimension) {
  const Tensor tensor = counting({2, 3, 4});
  EXPECT_EQ(tensor.rows(), 6);
  EXPECT_EQ(tensor.width(), 4);
  EXPECT_EQ(tensor.row(5)[3], 23.0f);
  EXPECT_EQ(tensor.bytes(), 96u);
  EXPECT_EQ(Tensor::allocate({}).rows(), 1);
  EXPECT_EQ(Tensor::allocate({5, 0}).rows(), 0);
  EXPECT_EQ(Tensor::allocate({0, 5}).rows(), 0);
}

TEST(Tensor, CopiesAndViewsKeepTheMemoryAlive) {
  Tensor slice, copy;
  std::weak_ptr<const int> watch;
  {
    auto owner = std::make_shared<const int>(1);
    watch = owner;
    std::vector<float> memory(12);
    const Tensor tensor(memory.data(), DataType::float32, {3, 4}, std::move(owner));
    slice = tensor.slice(1, 1);
    copy = tensor.reshape({12});
  }
  EXPECT_FALSE(watch.expired());
  slice = Tensor();
  EXPECT_FALSE(watch.expired());
  copy = Tensor();
  EXPECT_TRUE(watch.expired());
}

TEST(Tensor, SlicesAreRowsOfTheFirstDimension) {
  const Tensor tensor = counting({4, 2, 3});
  const Tensor slice = tensor.slice(1, 2);
  EXPECT_EQ(slice.shape(), Shape({2, 2, 3}));
  EXPECT_EQ(slice.data<float>()[0], 6.0f);
  EXPECT_EQ(slice.data<float>(), tensor.data<float>() + 6);
  EXPECT_EQ(tensor.slice(4, 0).shape(), Shape({0, 2, 3}));
  EXPECT_EQ(tensor.slice(0, 4).data<float>(), tensor.data<float>());
  EXPECT_EQ(Tensor::allocate({0, 3}).slice(0, 0).rows(), 0);
  EXPECT_EQ(Tensor::allocate({8}, DataType::int8).slice(3, 2).bytes(), 2u);
}

TEST(Tensor, SlicesBeyondTheEndAreRefused) {
  const Tensor tensor = counting({4, 2});
  constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();
  struct Row {
    std::int64_t first, count;
    const char* message;
  };
  for (const auto& [first, count, message] : {
           Row{0, 5, "5 rows from 0 of a tensor of shape [4, 2]"},
           Row{4, 1, "1 rows from 4 of a tensor of shape [4, 2]"},
           Row{-1, 1, "1 rows from -1 of a tensor of shape [4, 2]"},
           Row{2, -1, "-1 rows from 2 of a tensor of shape [4, 2]"},
           Row{1, kHuge, "9223372036854775807 rows from 1 of a tensor of shape [4, 2]"},
           Row{kHuge, 1, "1 rows from 9223372036854775807 of a tensor of shape [4, 2]"},
       }) {
    EXPECT_EQ(message_of<ShapeError>([&, &from = first, &rows = count] { tensor.slice(from, rows); }), message);
  }
  EXPECT_THROW(Tensor::allocate({}).slice(0, 0), ShapeError);
}

TEST(Tensor, ReshapingKeepsTheElements) {
  const Tensor tensor = counting({4, 6});
  EXPECT_EQ(tensor.reshape({2, 3, 4}).row(5)[3], 23.0f);
  EXPECT_EQ(message_of<ShapeError>([&] {
              tensor.reshape({5, 5});
            }),
            "shape [4, 6] cannot become [5, 5]: the sizes differ");
}

// Returns the value of `bits` by the formula of IEEE 754, (-1)^sign * 2^(exponent - bias) * 1.mantissa.
double by_formula(int bits, int exponent_bits, int mantissa_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = (bits >> mantissa_bits) % (1 << exponent_bits);
  const double fraction = (bits % (1 << mantissa_bits)) / std::pow(2.0, mantissa_bits);
  const double sign = bits >= 0x8000 ? -1.0 : 1.0;
  if (exponent == (1 << exponent_bits) - 1) {
    return fraction == 0.0 ? sign * std::numeric_limits<double>::infinity() : std::nan("");
  }
  return exponent == 0 ? sign * fraction * std::pow(2.0, 1 - bias)
                       : sign * (1 + fraction) * std::pow(2.0, exponent - bias);
}

TEST(CopyAsFloat, WidensEveryFloat16AndBfloat16Exactly) {
  std::vector<std::uint16_t> all(65536);
  std::iota(all.begin(), all.end(), std::uint16_t{0});
  std::vector<float> floats(all.size());
  for (const auto& [type, exponent_bits] : {std::pair(DataType::float16, 5), {DataType::bfloat16, 8}}) {
    copy_as_float(Tensor(all.data(), type, {65536}), 0, 65536, floats.data());
    for (int bits = 0; bits < 65536; ++bits) {
      const double expected = by_formula(bits, exponent_bits, 15 - exponent_bits);
      const float found = floats[static_cast<std::size_t>(bits)];
      ASSERT_EQ(std::isnan(found), std::isnan(expected)) << bits;
      if (std::isnan(expected)) continue;
      ASSERT_EQ(static_cast<double>(found), expected) << bits;
      ASSERT_EQ(std::signbit(found), std::signbit(expected)) << bits;
    }
  }
}

TEST(CopyAsFloat, ReadsAPartOfAnUnalignedTensor) {
  for (const DataType type : {DataType::float32, DataType::float16, DataType::bfloat16}) {
    Tensor powers = Tensor::allocate({5});
    for (int i = 0; i < 5; ++i) powers.data<float>()[i] = static_cast<float>(1 << i);
    powers = stored_as(powers, type);
    std::vector<std::byte> memory(powers.bytes() + 1);
    std::memcpy(memory.data() + 1, powers.raw(), powers.bytes());
    std::vector<float> floats(4, -1.0f);
    copy_as_float(Tensor(memory.data() + 1, type, {5}), 2, 3, floats.data());
    EXPECT_EQ(floats, (std::vector<float>{4.0f, 8.0f, 16.0f, -1.0f})) << to_string(type);
  }
}

TEST(CopyAsFloat, RoundsDoubles) {
  const double values[] = {0.1, -1e300, 0x1p-149, 3};
  std::vector<std::byte> memory(sizeof(values) + 1);
  std::memcpy(memory.data() + 1, values, sizeof(values));
  std::vector<float> floats(3);
  copy_as_float(Tensor(memory.data() + 1, DataType::float64, {4}), 0, 3, floats.data());
  EXPECT_EQ(floats, (std::vector<float>{0.1F, -std::numeric_limits<float>::infinity(), 0x1p-149F}));
}

TEST(CopyAsFloat, RefusesOtherTypes) {
  for (const DataType type :
       {DataType::int8, DataType::int16, DataType::int32, DataType::int64, DataType::uint8, DataType::boolean}) {
    float output = 0.0f;
    EXPECT_EQ(message_of<WeightError>([&] { copy_as_float(Tensor::allocate({1}, type), 0, 1, &output); }),
              "tensor stored as " + std::string(to_string(type)) + ", expected float32, float16, bfloat16 or float64");
  }
}

TEST(DataType, SizesMatchTheNames) {
  for (const auto& [type, bytes, name] :
       {std::tuple{DataType::float64, 8, "float64"}, std::tuple{DataType::int64, 8, "int64"},
        std::tuple{DataType::float32, 4, "float32"}, std::tuple{DataType::int32, 4, "int32"},
        std::tuple{DataType::float16, 2, "float16"}, std::tuple{DataType::bfloat16, 2, "bfloat16"},
        std::tuple{DataType::int16, 2, "int16"}, std::tuple{DataType::int8, 1, "int8"},
        std::tuple{DataType::uint8, 1, "uint8"}, std::tuple{DataType::boolean, 1, "boolean"}}) {
    EXPECT_EQ(size_of(type), static_cast<std::size_t>(bytes));
    EXPECT_EQ(to_string(type), name);
  }
}

}  // namespace
}  // namespace encdec
