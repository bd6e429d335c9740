#include "encdec/engine/matmul.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "encdec/engine/backend/onednn.h"
#include "encdec/engine/base/error.h"
#include "tests/engine/matmul_fixture.h"
#include "tests/support/comparison.h"
#include "tests/support/layer_runner.h"
#include "tests/support/message_of.h"

namespace encdec {
namespace {

TEST(MatMul, IsExactOnWholeNumbersForEveryShape) {
  RandomTensors random(1);
  const auto integers = [&](const Shape& shape) { return random.integers(shape, 8); };
  for (const MatMulWidths widths : kWidths) {
    for (const int rows : kRowCounts) {
      const bool bias = random.below(2) == 0, residual = random.below(2) == 0;
      MatMulCase c = make_case(integers, widths, rows, bias, residual);
      if (random.below(2) == 0) c.activation = Activation::relu;
      // With few outputs, relu might leave only zeros, so that the comparison would show little.
      if (rows * widths.output < 50) c.activation = Activation::identity;
      EXPECT_TRUE(equals(c.expected(), c.run(1 + random.below(3)))) << describe(c);
    }
  }
}

TEST(MatMul, MultipliesOperandsRoundedToItsPrecision) {
  RandomTensors random(17);
  for (const Precision precision : {Precision::bfloat16, Precision::int8}) {
    for (const MatMulWidths widths : kWidths) {
      for (const int rows : kRowCounts) {
        MatMulCase c = uniform_case(18, widths, rows, random.below(2) == 0, random.below(2) == 0);
        c.precision = precision;
        if (rows * widths.output < 50) continue;  // too few outputs to compare
        if (widths.input < 5) continue;           // the bound counts the rounding of sums but not that of scales
        EXPECT_TRUE(is_close_to(c.expected(), c.run(1 + random.below(3)))) << describe(c);
      }
    }
  }
}

// A row of whole numbers with a magnitude of up to 127 has scale 1 in int8, so that nothing is rounded: every CPU
// computes the same exact sums.
TEST(MatMul, SumsOfIntegersAreExactForEveryShape) {
  RandomTensors random(22);
  const auto integers = [&](const Shape& shape) {
    Tensor tensor = random.integers(shape, 127);
    for (std::int64_t row = 0; row < tensor.rows(); ++row)
      tensor.row(row)[random.below(static_cast<int>(tensor.width()))] = -127.0f;
    return tensor;
  };
  for (const MatMulWidths widths : kWidths) {
    for (const int rows : kRowCounts) {
      MatMulCase c = make_case(integers, widths, rows, random.below(2) == 0, random.below(2) == 0);
      c.precision = Precision::int8;
      EXPECT_TRUE(equals(c.expected(), c.run(1 + random.below(3)))) << describe(c);
    }
  }
}

// A kernel with 16-bit sums of products, or with unsigned 8-bit inputs, would saturate here.
TEST(MatMul, IntegersDoNotSaturate) {
  for (const float sign : {1.0f, -1.0f}) {
    MatMulCase c = uniform_case(19, {2048, 70}, 5, false, false);
    c.precision = Precision::int8;
    c.weights = {Tensor::allocate({70, 2048})};
    std::fill_n(c.weights[0].data<float>(), c.weights[0].elements(), 0.5f);
    c.input = Tensor::allocate({5, 2048});
    std::fill_n(c.input.data<float>(), c.input.elements(), sign * 127.0f);
    const Tensor output = c.run(1);
    for (Dim i = 0; i < output.elements(); ++i) EXPECT_EQ(output.data<float>()[i], sign * 127.0f * 0.5f * 2048);
  }
}

TEST(MatMul, RowsOfZerosOrTinyValuesGiveTheBias) {
  for (const Precision precision : kPrecisions) {
    MatMulCase c = uniform_case(20, {70, 100}, 3, true, false);
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

TEST(MatMul, ReturnsTheSameWeightsWhicheverThreadsPackThem) {
  const auto team = std::make_shared<ThreadTeam>(3);
  for (const int width : {1, 5, 130}) {
    MatMulCase c = uniform_case(21, {width, 300}, 1, false, false);
    c.weights.push_back(RandomTensors(22).uniform({200, width}));
    std::vector<float> row(static_cast<std::size_t>(width));
    for (const Precision precision : kPrecisions) {
      c.precision = precision;
      for (const auto& [threads, packs] : {std::pair(3, team), {1, team}, {3, std::shared_ptr<ThreadTeam>()}}) {
        const MatMul matmul = c.matmul(threads, packs);
        for (int output = 0; output < 500; ++output) {
          const Tensor expected =
              rounded(c.weights[output < 300 ? 0 : 1].slice(output < 300 ? output : output - 300, 1), precision);
          matmul.copy_weights(output, row.data());
          ASSERT_TRUE(std::equal(row.begin(), row.end(), expected.row(0)))
              << to_string(precision) << ", " << threads << " slices, output " << output;
        }
      }
    }
  }
}

TEST(MatMul, AppliesEveryActivationToEveryMixOfBiasAndResidual) {
  for (const Activation activation : reference::kActivations) {
    for (const bool bias : {false, true}) {
      for (const bool residual : {false, true}) {
        for (const MatMulWidths widths : {MatMulWidths{37, 67}, MatMulWidths{64, 256}, MatMulWidths{257, 321}}) {
          for (const int rows : {1, 5, 33}) {
            MatMulCase c = uniform_case(2, widths, rows, bias, residual);
            c.activation = activation;
            for (const int threads : {1, 2}) EXPECT_TRUE(is_close_to(c.expected(), c.run(threads))) << describe(c);
          }
        }
      }
    }
  }
}

TEST(MatMul, ActivationsOfLargeInputsDoNotOverflow) {
  for (const Activation activation : reference::kActivations) {
    // A sigmoid comes arbitrarily close to 0, so relative bounds do not hold.
    if (activation == Activation::sigmoid) continue;
    MatMulCase c;
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
      MatMulCase c;
      c.input = random.uniform({40, width});
      // With these heights slices begin inside a weight, and one weight spans several slices.
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

// Weights that have the values of a 16-bit type are stored in it, whatever type they come in.
TEST(MatMul, SmallerWeightsGiveTheSameBits) {
  for (const DataType type : {DataType::float16, DataType::bfloat16}) {
    for (const int threads : {1, 3}) {
      for (const int rows : {1, 5, 40, 300}) {
        MatMulCase c = uniform_case(23, {257, 300}, rows, true, true);
        const Tensor halves = RandomTensors(24).uniform({300, 257}, 0.1, type);
        copy_as_float(halves, 0, halves.elements(), c.weights.front().data<float>());
        const Tensor from_floats = c.run(threads);
        const std::size_t small = c.matmul(threads).bytes();
        std::vector<float> row(257);
        c.matmul(threads).copy_weights(123, row.data());
        EXPECT_TRUE(std::equal(row.begin(), row.end(), c.weights.front().row(123)));
        MatMulCase stored = c;
        stored.weights.front() = halves;
        EXPECT_TRUE(same_bits(from_floats, stored.run(threads))) << to_string(type);
        EXPECT_EQ(stored.matmul(threads).bytes(), small);
        // One other value, and all weights are floats.
        c.weights.front().row(299)[0] = 0.1f;
        const Tensor others = c.run(threads);
        for (std::int64_t r = 0; r < rows; ++r) {
          EXPECT_TRUE(std::equal(others.row(r), others.row(r) + 299, from_floats.row(r))) << to_string(type);
        }
        const auto backends = backend::smaller_backends(c.backend, Precision::float32);
        const bool has_smaller =
            std::ranges::any_of(backends, [&](const backend::Backend* smaller) { return smaller->stored == type; });
        EXPECT_EQ(small < c.matmul(threads).bytes(), has_smaller);
      }
    }
  }
}

TEST(MatMul, NoRowsGiveNoOutput) {
  const MatMulCase c = uniform_case(11, {64, 1100}, 4, true, false);
  RunState state(Graph("test"), std::make_shared<ThreadTeam>(2));
  EXPECT_EQ(c.run(c.matmul(2), state, 0, 0).rows(), 0);
}

TEST(MatMul, ManyRowCountsMakeFewPrimitives) {
  const MatMulCase c = uniform_case(12, {16, 16}, 1000, true, false);
  const MatMul matmul = c.matmul(1);
  RunState state{Graph("test")};
  for (int rows = 1; rows <= 1000; ++rows) c.run(matmul, state, 0, rows);
  EXPECT_LE(state.matmul_primitives(0).size(), 40u);
}

TEST(MatMul, PackedBytesCoverTheWeights) {
  const MatMulCase c = uniform_case(13, {100, 130}, 1, false, false);
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
    EXPECT_EQ(message_of<ShapeError>([&] {
                std::vector<WeightMatrix> weights;
                for (const Shape& shape : row.weights) weights.emplace_back(Tensor::allocate(shape));
                MatMul(weights, biases);
              }),
              row.message);
  }
}

TEST(MatMul, RefusesWeightsOfIntegers) {
  EXPECT_THROW(WeightMatrix(Tensor::allocate({2, 3}, DataType::int8)), WeightError);
}

}  // namespace
}  // namespace encdec
