#include "encdec/engine/kernels/normalization.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "tests/support/comparison.h"
#include "tests/support/naive_reference.h"
#include "tests/support/random_tensors.h"
#include "tests/support/vector_targets.h"

namespace encdec::kernels {
namespace {

using reference::Matrix;

constexpr std::array kWidths = {1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 64, 100, 257, 512, 1000};

struct NormOperands {
  Tensor input;
  Tensor residual;
  Tensor scale;
  Tensor shift;
  float epsilon = 1e-5f;

  NormOperands(std::uint64_t seed, int width, double offset = 0.0) {
    RandomTensors random(seed);
    input = random.uniform({1, width});
    residual = random.uniform({1, width});
    scale = random.uniform({width});
    shift = random.uniform({width});
    for (int i = 0; i < width; ++i) input.data<float>()[i] += static_cast<float>(offset);
  }

  NormRow row(bool add_residual, Tensor& output) const {
    return {.input = input.data<float>(),
            .residual = add_residual ? residual.data<float>() : nullptr,
            .scale = scale.data<float>(),
            .shift = shift.data<float>(),
            .epsilon = epsilon,
            .width = static_cast<int>(input.width()),
            .output = output.data<float>()};
  }

  Tensor run(bool add_residual) const {
    Tensor output = Tensor::allocate(input.shape());
    layer_norm(row(add_residual, output));
    return output;
  }

  Matrix expected(bool add_residual) const {
    const Matrix x = add_residual ? add(Matrix(input), Matrix(residual)) : Matrix(input);
    return reference::layer_norm(x, Matrix(scale), Matrix(shift), epsilon);
  }
};

TEST(LayerNorm, FollowsTheFormulaForEveryWidth) {
  for_each_vector_target([] {
    for (const int width : kWidths) {
      for (const bool residual : {false, true}) {
        const NormOperands operands(1, width);
        EXPECT_TRUE(is_close_to(operands.expected(residual), operands.run(residual))) << "width " << width;
      }
    }
  });
}

TEST(LayerNorm, KeepsItsAccuracyIfTheMeanIsLarge) {
  for_each_vector_target([] {
    for (const int width : {33, 100}) {
      const NormOperands operands(2, width, 100.0);
      EXPECT_TRUE(is_close_to(operands.expected(false), operands.run(false))) << "width " << width;
    }
  });
}

TEST(LayerNorm, ARowOfEqualNumbersGivesTheShiftAlone) {
  for_each_vector_target([] {
    for (const int width : kWidths) {
      NormOperands operands(3, width);
      std::fill_n(operands.input.data<float>(), width, 0.5f);
      EXPECT_TRUE(equals(Matrix(operands.shift), operands.run(false))) << "width " << width;
    }
  });
}

TEST(LayerNorm, EpsilonIsAddedToTheVariance) {
  for_each_vector_target([] {
    for (const float epsilon : {0.0f, 1e-12f, 0.1f, 3.0f}) {
      NormOperands operands(4, 40);
      operands.epsilon = epsilon;
      EXPECT_TRUE(is_close_to(operands.expected(false), operands.run(false))) << "epsilon " << epsilon;
    }
  });
}

TEST(LayerNorm, OutputMayBeTheInput) {
  for_each_vector_target([] {
    for (const int width : kWidths) {
      NormOperands operands(5, width);
      const Tensor expected = operands.run(true);
      layer_norm(operands.row(true, operands.input));
      EXPECT_TRUE(same_bits(expected, operands.input)) << "width " << width;
    }
  });
}

Tensor run_rms_norm(const NormOperands& operands, bool add_residual) {
  Tensor output = Tensor::allocate(operands.input.shape());
  rms_norm(operands.row(add_residual, output));
  return output;
}

TEST(RmsNorm, FollowsTheFormulaForEveryWidth) {
  for_each_vector_target([] {
    for (const int width : kWidths) {
      for (const bool residual : {false, true}) {
        const NormOperands operands(21, width, 0.3);
        const Matrix x = residual ? add(Matrix(operands.input), Matrix(operands.residual)) : Matrix(operands.input);
        EXPECT_TRUE(is_close_to(reference::rms_norm(x, Matrix(operands.scale), operands.epsilon),
                                run_rms_norm(operands, residual)))
            << "width " << width;
      }
    }
  });
}

TEST(RmsNorm, ZerosStayZeros) {
  for_each_vector_target([] {
    NormOperands operands(22, 33);
    std::fill_n(operands.input.data<float>(), 33, 0.0f);
    const Tensor output = run_rms_norm(operands, false);
    for (int i = 0; i < 33; ++i) EXPECT_EQ(output.data<float>()[i], 0.0f);
  });
}

}  // namespace
}  // namespace encdec::kernels
