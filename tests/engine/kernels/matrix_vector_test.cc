#include "encdec/engine/kernels/matrix_vector.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "tests/support/comparison.h"
#include "tests/support/naive_reference.h"
#include "tests/support/random_tensors.h"
#include "tests/support/vector_targets.h"

namespace encdec::kernels {
namespace {

using reference::Matrix;

constexpr std::array kInputWidths = {1, 2, 15, 16, 17, 64, 300, 513, 1100};
constexpr std::array kOutputWidths = {1, 7, 63, 64, 65, 128, 200};

struct Operands {
  Tensor weight;
  Tensor input;
  Tensor bias;
  Tensor residual;
  std::vector<float> panels;

  Operands(Tensor given_weight, Tensor given_input, Tensor given_bias, Tensor given_residual)
      : weight(std::move(given_weight)),
        input(std::move(given_input)),
        bias(std::move(given_bias)),
        residual(std::move(given_residual)) {
    const auto rows = static_cast<std::size_t>((input_width() + 15) / 16 * 16);
    const auto columns = static_cast<std::size_t>((output_width() + 63) / 64 * 64);
    panels.resize(rows * columns);
    for (std::size_t n = 0; n < static_cast<std::size_t>(output_width()); ++n) {
      for (std::size_t k = 0; k < static_cast<std::size_t>(input_width()); ++k) {
        panels[n / 64 * 64 * rows + k * 64 + n % 64] = weight.row(static_cast<std::int64_t>(n))[k];
      }
    }
  }

  int input_width() const { return static_cast<int>(weight.shape()[1]); }
  int output_width() const { return static_cast<int>(weight.shape()[0]); }

  Tensor run(int chunk) const {
    Tensor output = Tensor::allocate({1, output_width()});
    multiply_row(
        {.panels = panels.data(), .input_width = input_width(), .output_width = output_width(), .chunk = chunk},
        input.data<float>(), bias.empty() ? nullptr : bias.data<float>(),
        residual.empty() ? nullptr : residual.data<float>(), output.data<float>());
    return output;
  }

  Matrix expected() const {
    const Matrix bias_row = bias.empty() ? Matrix(1, output_width()) : Matrix(bias);
    const Matrix y = linear(Matrix(input), Matrix(weight), &bias_row);
    return residual.empty() ? y : add(y, Matrix(residual));
  }
};

TEST(MatrixVector, IsExactOnWholeNumbersForEveryShapeAndChunk) {
  for_each_vector_target([] {
    RandomTensors random(1);
    for (const int input_width : kInputWidths) {
      for (const int output_width : kOutputWidths) {
        const Operands operands(random.integers({output_width, input_width}, 9), random.integers({1, input_width}, 9),
                                random.below(2) == 0 ? Tensor() : random.integers({output_width}, 9),
                                random.below(2) == 0 ? Tensor() : random.integers({1, output_width}, 9));
        for (const int chunk : {16, 512, 1024, 2048}) {
          // One product of two whole numbers may well be zero; more say something.
          if (output_width > 1) {
            ASSERT_TRUE(equals(operands.expected(), operands.run(chunk)))
                << fmt::format("{} -> {}, chunks of {}", input_width, output_width, chunk);
          }
        }
      }
    }
  });
}

TEST(MatrixVector, FollowsTheFormula) {
  for_each_vector_target([] {
    RandomTensors random(2);
    for (const int input_width : kInputWidths) {
      for (const int output_width : kOutputWidths) {
        const Operands operands(random.uniform({output_width, input_width}), random.uniform({1, input_width}),
                                random.uniform({output_width}), random.uniform({1, output_width}));
        ASSERT_TRUE(is_close_to(operands.expected(), operands.run(512)))
            << fmt::format("{} -> {}", input_width, output_width);
      }
    }
  });
}

TEST(MatrixVector, OneChunkIsTheSameWhateverItsSize) {
  for_each_vector_target([] {
    RandomTensors random(3);
    const Operands operands(random.uniform({70, 300}), random.uniform({1, 300}), Tensor(), Tensor());
    EXPECT_TRUE(same_bits(operands.run(300), operands.run(512)));
    EXPECT_TRUE(same_bits(operands.run(300), operands.run(100000)));
  });
}

}  // namespace
}  // namespace encdec::kernels
