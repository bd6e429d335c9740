#include "encdec/engine/matmul.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "encdec/engine/backend/packed_matrix.h"
#include "encdec/engine/error.h"
#include "encdec/engine/graph.h"
#include "encdec/engine/run_state.h"
#include "tests/support/comparison.h"
#include "tests/support/layer_runner.h"
#include "tests/support/naive_reference.h"
#include "tests/support/random_tensors.h"

namespace encdec {
namespace {

using reference::Matrix;

// Row counts round the sizes of the pieces that a matmul is cut into.
constexpr std::array kRowCounts = {1, 2, 3, 7, 31, 32, 33, 63, 64, 100, 257, 300};

struct Widths {
  int input;
  int output;
};
constexpr std::array kWidths = {Widths{1, 1},   Widths{1, 64},  Widths{5, 1},     Widths{7, 13},    Widths{16, 48},
                                Widths{37, 67}, Widths{64, 64}, Widths{61, 192},  Widths{257, 131}, Widths{128, 320},
                                Widths{300, 7}, Widths{33, 65}, Widths{256, 256}, Widths{512, 128}, Widths{127, 641}};

constexpr std::array kPrecisions = {Precision::float32, Precision::bfloat16, Precision::int8};

// By the definition: 8 bits of mantissa, or integers of -127 to 127 relative to the largest of a row.
Tensor rounded(const Tensor& tensor, Precision precision) {
  Tensor result = Tensor::allocate(tensor.shape());
  copy_as_float(tensor, 0, tensor.elements(), result.data<float>());
  if (precision == Precision::float32) return result;
  for (std::int64_t row = 0; row < result.rows(); ++row) {
    float largest = 0.0f;
    for (Dim i = 0; i < result.width(); ++i) largest = std::max(largest, std::fabs(result.row(row)[i]));
    for (Dim i = 0; i < result.width(); ++i) {
      float& x = result.row(row)[i];
      if (precision == Precision::int8) {
        x = largest == 0.0f ? 0.0f : std::nearbyint(x * (127.0f / largest)) * (largest / 127.0f);
      } else {
        int exponent = 0;
        const float mantissa = std::frexp(x, &exponent);
        x = std::ldexp(std::nearbyint(std::ldexp(mantissa, 8)), exponent - 8);
      }
    }
  }
  return result;
}

// A matmul with its operands, so that it can be run on any of its rows with any number of threads.
struct Case {
  std::vector<Tensor> weights;
  std::vector<Tensor> biases;
  Activation activation = Activation::identity;
  Residual residual_mode = Residual::none;
  Precision precision = Precision::float32;
  Tensor input;
  Tensor residual;

  MatMul matmul(int threads) const {
    const std::vector<WeightMatrix> matrices(weights.begin(), weights.end());
    return {matrices, biases, {.threads = threads, .precision = precision}, activation, residual_mode};
  }

  Tensor run(const MatMul& matmul, RunState& state, std::int64_t first, std::int64_t count) const {
    Tensor output = Tensor::allocate({count, matmul.output_width()});
    std::fill_n(output.data<float>(), output.elements(), 12345.0f);
    const Tensor added = residual.empty() ? Tensor() : residual.slice(first, count);
    matmul.forward(input.slice(first, count), residual.empty() ? nullptr : &added, output, state);
    return output;
  }

  Tensor run(int threads) const {
    RunState state(Graph("test"), std::make_shared<ThreadTeam>(threads));
    return run(matmul(threads), state, 0, input.rows());
  }

  Matrix expected() const {
    std::vector<Matrix> rows;
    for (const Tensor& weight : weights) rows.emplace_back(rounded(weight, precision));
    Matrix bias(1, 0);
    for (std::size_t i = 0; i < biases.size(); ++i) {
      bias = beside(bias, biases[i].empty() ? Matrix(1, weights[i].shape()[0]) : Matrix(biases[i]));
    }
    Matrix y = linear(Matrix(rounded(input, precision)), reference::stack(rows), biases.empty() ? nullptr : &bias);
    y = reference::activate(activation, y);
    return residual.empty() ? y : add(y, Matrix(residual));
  }
};

using MakeTensor = std::function<Tensor(const Shape&)>;

Case make_case(const MakeTensor& make, Widths widths, int rows, bool bias, bool residual) {
  Case result;
  result.input = make({rows, widths.input});
  result.weights = {make({widths.output, widths.input})};
  if (bias) result.biases = {make({widths.output})};
  if (residual) {
    result.residual_mode = Residual::add;
    result.residual = make({rows, widths.output});
  }
  return result;
}

Case uniform_case(std::uint64_t seed, Widths widths, int rows, bool bias, bool residual) {
  RandomTensors random(seed);
  return make_case([&](const Shape& shape) { return random.uniform(shape); }, widths, rows, bias, residual);
}

std::string describe(const Case& c) {
  return fmt::format("{}, x {}, N {}, {}{}{}", to_string(c.precision), to_string(c.input.shape()),
                     c.weights.front().shape()[0], to_string(c.activation), c.biases.empty() ? "" : ", bias",
                     c.residual.empty() ? "" : ", residual");
}

TEST(MatMul, IsExactOnWholeNumbersForEveryShape) {
  RandomTensors random(1);
  const auto integers = [&](const Shape& shape) { return random.integers(shape, 8); };
  for (const Widths widths : kWidths) {
    for (const int rows : kRowCounts) {
      const bool bias = random.below(2) == 0, residual = random.below(2) == 0;
      Case c = make_case(integers, widths, rows, bias, residual);
      if (random.below(2) == 0) c.activation = Activation::relu;
      // A table so small that relu may leave nothing but zeros says nothing.
      if (rows * widths.output < 50) c.activation = Activation::identity;
      EXPECT_TRUE(equals(c.expected(), c.run(1 + random.below(3)))) << describe(c);
    }
  }
}

TEST(MatMul, MultipliesWhatItsPrecisionMakesOfTheOperands) {
  RandomTensors random(17);
  for (const Precision precision : {Precision::bfloat16, Precision::int8}) {
    for (const Widths widths : kWidths) {
      for (const int rows : kRowCounts) {
        Case c = uniform_case(18, widths, rows, random.below(2) == 0, random.below(2) == 0);
        c.precision = precision;
        if (rows * widths.output < 50) continue;  // too few to judge by
        if (widths.input < 5) continue;           // the bound counts the roundings of sums, not those of scales
        EXPECT_TRUE(is_close_to(c.expected(), c.run(1 + random.below(3)))) << describe(c);
      }
    }
  }
}

// Rows of whole numbers with 127 among them are their own integers, so nothing is rounded: every CPU gives these sums.
TEST(MatMul, SumsOfIntegersAreExactForEveryShape) {
  RandomTensors random(22);
  const auto integers = [&](const Shape& shape) {
    Tensor tensor = random.integers(shape, 127);
    for (std::int64_t row = 0; row < tensor.rows(); ++row)
      tensor.row(row)[random.below(static_cast<int>(tensor.width()))] = -127.0f;
    return tensor;
  };
  for (const Widths widths : kWidths) {
    for (const int rows : kRowCounts) {
      Case c = make_case(integers, widths, rows, random.below(2) == 0, random.below(2) == 0);
      c.precision = Precision::int8;
      EXPECT_TRUE(equals(c.expected(), c.run(1 + random.below(3)))) << describe(c);
    }
  }
}

// Sums of products of 16 bits would saturate, as would inputs of 8 bits without a sign.
TEST(MatMul, IntegersDoNotSaturate) {
  for (const float sign : {1.0f, -1.0f}) {
    Case c = uniform_case(19, {2048, 70}, 5, false, false);
    c.precision = Precision::int8;
    c.weights = {Tensor::allocate({70, 2048})};
    std::fill_n(c.weights[0].data<float>(), c.weights[0].elements(), 0.5f);
    c.input = Tensor::allocate({5, 2048});
    std::fill_n(c.input.data<float>(), c.input.elements(), sign * 127.0f);
    const Tensor output = c.run(1);
    for (Dim i = 0; i < output.elements(); ++i) EXPECT_EQ(output.data<float>()[i], sign * 127.0f * 0.5f * 2048);
  }
}

TEST(MatMul, RowsOfZerosAndTinyValuesGiveTheirBias) {
  for (const Precision precision : kPrecisions) {
    Case c = uniform_case(20, {70, 100}, 3, true, false);
    c.precision = precision;
    c.input = copy_of(c.input);
    std::fill_n(c.input.row(1), 70, 0.0f);
    std::fill_n(c.input.row(2), 70, 1e-38f);
    const Tensor output = c.run(1);
    for (Dim i = 0; i < 100; ++i) {
      EXPECT_EQ(output.row(1)[i], c.biases[0].data<float>()[i]) << to_string(precision);
      EXPECT_EQ(output.row(2)[i], c.biases[0].data<float>()[i]) << to_string(precision);
    }
  }
}

TEST(MatMul, GivesItsWeightsBack) {
  for (const Precision precision : kPrecisions) {
    Case c = uniform_case(21, {130, 300}, 1, false, false);
    c.precision = precision;
    const MatMul matmul = c.matmul(3);
    const Tensor expected = rounded(c.weights[0], precision);
    std::vector<float> row(130);
    for (const Dim output : {0, 99, 127, 128, 200, 299}) {
      matmul.copy_weights(output, row.data());
      for (int i = 0; i < 130; ++i) EXPECT_EQ(row[static_cast<std::size_t>(i)], expected.row(output)[i]);
    }
  }
}

TEST(MatMul, AppliesEveryActivationToEveryMixOfBiasAndResidual) {
  for (const Activation activation :
       {Activation::identity, Activation::relu, Activation::gelu, Activation::gelu_tanh, Activation::silu}) {
    for (const bool bias : {false, true}) {
      for (const bool residual : {false, true}) {
        for (const Widths widths : {Widths{37, 67}, Widths{64, 256}, Widths{257, 321}}) {
          for (const int rows : {1, 5, 33}) {
            Case c = uniform_case(2, widths, rows, bias, residual);
            c.activation = activation;
            for (const int threads : {1, 2}) EXPECT_TRUE(is_close_to(c.expected(), c.run(threads))) << describe(c);
          }
        }
      }
    }
  }
}

TEST(MatMul, ActivationsOfLargeInputsDoNotOverflow) {
  for (const Activation activation : {Activation::gelu, Activation::gelu_tanh, Activation::silu}) {
    Case c;
    c.activation = activation;
    c.input = Tensor::allocate({8, 1});
    const std::array values = {-1e4f, -100.0f, -20.0f, -5.0f, 5.0f, 20.0f, 100.0f, 1e4f};
    std::copy(values.begin(), values.end(), c.input.data<float>());
    c.weights = {Tensor::allocate({1, 1})};
    c.weights[0].data<float>()[0] = 1.0f;
    EXPECT_TRUE(is_close_to(c.expected(), c.run(1))) << to_string(activation);
  }
}

TEST(MatMul, MergesWeightsOfAllStoredTypes) {
  RandomTensors random(3);
  for (const int threads : {1, 2, 3}) {
    for (const int width : {1, 48, 100, 257}) {
      Case c;
      c.input = random.uniform({40, width});
      // Heights at which slices begin inside a weight, and one weight spans several slices.
      c.weights = {random.uniform({30, width}, 1.0, DataType::float16), random.uniform({1, width}),
                   random.uniform({333, width}, 1.0, DataType::bfloat16)};
      c.biases = {random.uniform({30}, 1.0, DataType::bfloat16), Tensor(),
                  random.uniform({333}, 1.0, DataType::float16)};
      EXPECT_TRUE(is_close_to(c.expected(), c.run(threads))) << "K " << width << ", threads " << threads;
      EXPECT_EQ(c.matmul(threads).output_width(), 364);
      EXPECT_EQ(c.matmul(threads).input_width(), width);
    }
  }
}

TEST(MatMul, OneHalfPrecisionWeightIsWidenedExactly) {
  RandomTensors random(4);
  for (const DataType type : {DataType::float16, DataType::bfloat16}) {
    Case c;
    c.input = random.integers({33, 65}, 4);
    c.weights = {random.integers({130, 65}, 100, type)};
    c.biases = {random.integers({130}, 100, type)};
    EXPECT_TRUE(equals(c.expected(), c.run(2))) << to_string(type);
  }
}

TEST(MatMul, ARowHasTheSameBitsAloneAndInAnyBatch) {
  RandomTensors random(5);
  for (int i = 0; i < 3 * static_cast<int>(kWidths.size()); ++i) {
    const Widths widths = kWidths[static_cast<std::size_t>(i) / 3];
    Case c = uniform_case(6, widths, 300, true, random.below(2) == 0);
    c.precision = kPrecisions[static_cast<std::size_t>(i) % 3];
    if (random.below(2) == 0) c.activation = Activation::gelu_tanh;
    const MatMul matmul = c.matmul(1);
    RunState state{Graph("test")};
    const Tensor all = c.run(matmul, state, 0, 300);
    for (int row = 0; row < 300; row += 7) {
      ASSERT_TRUE(same_bits(all.slice(row, 1), c.run(matmul, state, row, 1))) << describe(c) << ", row " << row;
    }
    for (const int rows : kRowCounts) {
      const int first = random.below(300 - rows + 1);
      ASSERT_TRUE(same_bits(all.slice(first, rows), c.run(matmul, state, first, rows)))
          << describe(c) << ", rows " << first << " to " << first + rows;
    }
  }
}

// oneDNN sums long rows in chunks, and one row alone may take another kernel: the sums must be the same all the same.
class LongRows : public testing::TestWithParam<Precision> {};

TEST_P(LongRows, HaveTheSameBitsAloneAndInAnyBatch) {
  constexpr int kRows = 300;
  int cases = 0;
  for (const int input_width : {511, 513, 1023, 1024, 1025, 1500, 2048, 2049, 4096}) {
    for (const Widths widths : {Widths{input_width, 64}, Widths{input_width, 200}}) {
      const bool full = widths.output == 200;
      Case c = uniform_case(14, widths, kRows, full, full);
      c.precision = GetParam();
      for (const int threads : {1, 2}) {
        const MatMul matmul = c.matmul(threads);
        RunState state(Graph("test"), std::make_shared<ThreadTeam>(threads));
        const Tensor all = c.run(matmul, state, 0, kRows);
        for (const int count : {1, 2, 3, 4, 6, 8, 16, 24, 32, 33, 64, 100, 128, 256}) {
          for (const int first : {0, 20, kRows - count}) {
            ASSERT_TRUE(same_bits(all.slice(first, count), c.run(matmul, state, first, count)))
                << describe(c) << ", rows " << first << " to " << first + count << ", threads " << threads;
            ++cases;
          }
        }
      }
    }
  }
  RecordProperty("cases", cases);
}

INSTANTIATE_TEST_SUITE_P(MatMul, LongRows, testing::ValuesIn(kPrecisions),
                         [](const auto& instance) { return std::string(to_string(instance.param)); });

TEST(MatMul, NumberOfThreadsDoesNotChangeABit) {
  RandomTensors random(7);
  for (const Widths widths : {Widths{300, 7}, Widths{256, 256}, Widths{127, 641}, Widths{512, 320}}) {
    for (const int rows : kRowCounts) {
      Case c = uniform_case(8, widths, rows, true, random.below(2) == 0);
      c.precision = kPrecisions[static_cast<std::size_t>(random.below(3))];
      c.activation = random.below(2) == 0 ? Activation::silu : Activation::identity;
      const Tensor alone = c.run(1);
      for (const int threads : {2, 3}) {
        ASSERT_TRUE(same_bits(alone, c.run(threads))) << describe(c) << ", threads " << threads;
      }
    }
  }
}

TEST(MatMul, ATeamLargerThanTheWeightsWerePackedForGivesTheSameBits) {
  for (const Precision precision : kPrecisions) {
    Case c = uniform_case(9, {256, 384}, 129, true, true);
    c.precision = precision;
    const MatMul matmul = c.matmul(2);
    RunState one(Graph("test"), std::make_shared<ThreadTeam>(1));
    RunState four(Graph("test"), std::make_shared<ThreadTeam>(4));
    EXPECT_TRUE(same_bits(c.run(matmul, one, 0, 129), c.run(matmul, four, 0, 129)));
  }
}

TEST(MatMul, ANotANumberStaysInItsRow) {
  for (const int variant : {0, 1, 2, 3, 4, 5}) {
    const int threads = 1 + variant / 3;
    Case c = uniform_case(10, {64, 1100}, 40, true, true);
    c.precision = kPrecisions[static_cast<std::size_t>(variant % 3)];
    const Tensor clean = c.run(threads);
    c.input = copy_of(c.input);
    c.input.row(17)[3] = std::numeric_limits<float>::quiet_NaN();
    const Tensor poisoned = c.run(threads);
    EXPECT_TRUE(std::isnan(poisoned.row(17)[0]));
    EXPECT_TRUE(same_bits(clean.slice(0, 17), poisoned.slice(0, 17)));
    EXPECT_TRUE(same_bits(clean.slice(18, 22), poisoned.slice(18, 22)));
  }
}

TEST(MatMul, NoRowsGiveNoRows) {
  const Case c = uniform_case(11, {64, 1100}, 4, true, false);
  RunState state(Graph("test"), std::make_shared<ThreadTeam>(2));
  EXPECT_EQ(c.run(c.matmul(2), state, 0, 0).rows(), 0);
}

TEST(MatMul, ManyRowCountsMakeFewPrimitives) {
  const Case c = uniform_case(12, {16, 16}, 1000, true, false);
  const MatMul matmul = c.matmul(1);
  RunState state{Graph("test")};
  for (int rows = 1; rows <= 1000; ++rows) c.run(matmul, state, 0, rows);
  EXPECT_LE(state.matmul_primitives(0).size(), 40u);
}

TEST(MatMul, PackedBytesCoverTheWeights) {
  const Case c = uniform_case(13, {100, 130}, 1, false, false);
  EXPECT_GE(c.matmul(1).bytes(), 100u * 130 * sizeof(float));
  EXPECT_LE(c.matmul(1).bytes(), 128u * 192 * sizeof(float));
  EXPECT_EQ(c.matmul(1).bytes(), c.matmul(3).bytes());
}

TEST(MatMul, RefusesSizesThatDoNotFit) {
  struct Row {
    std::vector<Shape> weights;
    std::vector<Shape> biases;
    const char* message;
  };
  const std::vector<Row> table = {
      {{}, {}, "matmul without weights"},
      {{Shape{}}, {}, "weight has shape [], expected [N, K]"},
      {{{4}}, {}, "weight has shape [4], expected [N, K]"},
      {{{2, 3, 4}}, {}, "weight has shape [2, 3, 4], expected [N, K]"},
      {{{2, 3}, {2, 4}}, {}, "matmul weight 1 has shape [2, 4], expected [N, 3]"},
      {{{2, 3}, {6}}, {}, "weight has shape [6], expected [N, K]"},
      {{{2, 3}}, {{3}}, "matmul bias 0 has shape [3], expected [2]"},
      {{{2, 3}}, {{1, 2}}, "matmul bias 0 has shape [1, 2], expected [2]"},
      {{{2, 3}, {4, 3}}, {{2}}, "matmul of 2 weights with 1 biases"},
  };
  for (const Row& row : table) {
    std::vector<Tensor> biases;
    for (const Shape& shape : row.biases) biases.push_back(Tensor::allocate(shape));
    try {
      std::vector<WeightMatrix> weights;
      for (const Shape& shape : row.weights) weights.emplace_back(Tensor::allocate(shape));
      const MatMul matmul(weights, biases);
      ADD_FAILURE() << "no exception, expected " << row.message;
    } catch (const ShapeError& error) {
      EXPECT_STREQ(error.what(), row.message);
    }
  }
}

TEST(MatMul, RefusesWeightsOfIntegers) {
  EXPECT_THROW(WeightMatrix(Tensor::allocate({2, 3}, DataType::int8)), WeightError);
}

}  // namespace
}  // namespace encdec
