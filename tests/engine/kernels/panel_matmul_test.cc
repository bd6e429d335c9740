#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "encdec/engine/kernels/matmul_kernels.h"
#include "encdec/engine/kernels/quantization.h"
#include "tests/support/comparison.h"
#include "tests/support/naive_reference.h"
#include "tests/support/random_tensors.h"
#include "tests/support/vector_targets.h"

namespace encdec::kernels {
namespace {

using reference::Matrix;

constexpr std::array kInputWidths = {1, 2, 15, 16, 17, 64, 300, 512, 513, 1100};
constexpr std::array kOutputWidths = {1, 7, 15, 17, 63, 64, 65, 128, 200};

struct PanelOperands {
  Tensor weight;
  Tensor input;
  Tensor bias;
  Tensor residual;
  Activation activation = Activation::identity;

  int input_width() const { return static_cast<int>(weight.shape()[1]); }
  int output_width() const { return static_cast<int>(weight.shape()[0]); }

  std::vector<float> packed(int columns) const {
    const auto width = static_cast<std::size_t>(columns);
    const auto rows = static_cast<std::size_t>((input_width() + 15) / 16 * 16);
    std::vector<float> panels(rows * ((static_cast<std::size_t>(output_width()) + width - 1) / width * width));
    for (std::size_t n = 0; n < static_cast<std::size_t>(output_width()); ++n) {
      for (std::size_t k = 0; k < static_cast<std::size_t>(input_width()); ++k) {
        panels[n / width * width * rows + k * width + n % width] = weight.row(static_cast<std::int64_t>(n))[k];
      }
    }
    return panels;
  }

  Tensor run(int columns) const {
    const std::vector<float> panels = packed(columns);
    Tensor output = Tensor::allocate({input.rows(), output_width()});
    std::fill_n(output.data<float>(), output.elements(), std::numeric_limits<float>::quiet_NaN());
    multiply_panels({.panels = reinterpret_cast<const std::byte*>(panels.data()),
                     .input_width = input_width(),
                     .output_width = output_width(),
                     .epilogue = {.bias = bias.empty() ? nullptr : bias.data<float>(), .activation = activation}},
                    {.count = static_cast<int>(input.rows()),
                     .input = input.raw(),
                     .output = {.residual = residual.empty() ? nullptr : residual.data<float>(),
                                .output = output.data<float>(),
                                .stride = output_width()}},
                    columns == kWideColumns ? PanelForm::wide_float32 : PanelForm::narrow_float32, nullptr);
    return output;
  }

  Matrix expected() const {
    const Matrix bias_row = bias.empty() ? Matrix(1, output_width()) : Matrix(bias);
    const Matrix y = reference::activate(activation, linear(Matrix(input), Matrix(weight), &bias_row));
    return residual.empty() ? y : add(y, Matrix(residual));
  }
};

PanelOperands uniform_operands(std::uint64_t seed, int rows, int input_width, int output_width) {
  RandomTensors random(seed);
  // Sums are about 1, where every activation is nonlinear.
  const double limit = 2.0 / std::sqrt(input_width);
  return {random.uniform({output_width, input_width}, limit), random.uniform({rows, input_width}),
          random.uniform({output_width}), random.uniform({rows, output_width})};
}

TEST(PanelMatMul, IsExactOnWholeNumbersForEveryShape) {
  for_each_vector_target([] {
    RandomTensors random(1);
    for (const int input_width : kInputWidths) {
      for (const int output_width : kOutputWidths) {
        // A single product of whole numbers is often zero and then shows little, so one column gets more rows.
        const int rows = output_width == 1 ? 20 : 1 + random.below(20);
        const PanelOperands operands{random.integers({output_width, input_width}, 9),
                                     random.integers({rows, input_width}, 9),
                                     random.below(2) == 0 ? Tensor() : random.integers({output_width}, 9),
                                     random.below(2) == 0 ? Tensor() : random.integers({rows, output_width}, 9)};
        const Matrix expected = operands.expected();
        for (const int columns : {kNarrowColumns, kWideColumns}) {
          ASSERT_TRUE(equals(expected, operands.run(columns)))
              << fmt::format("{} x {} -> {}, panels of {}", rows, input_width, output_width, columns);
        }
      }
    }
  });
}

TEST(PanelMatMul, AColumnHasTheSameBitsInEveryPanel) {
  for_each_vector_target([] {
    PanelOperands operands = uniform_operands(5, 9, 2 * kPanelChunk + 3, 111);
    operands.activation = Activation::tanh;
    const Tensor all = operands.run(kNarrowColumns);
    for (int column = 0; column < 111; ++column) {
      PanelOperands one{operands.weight.slice(column, 1), operands.input, {}, {}, operands.activation};
      one.bias = Tensor::allocate({1});
      one.bias.data<float>()[0] = operands.bias.data<float>()[column];
      one.residual = Tensor::allocate({9, 1});
      for (int row = 0; row < 9; ++row) one.residual.row(row)[0] = operands.residual.row(row)[column];
      const Tensor alone = one.run(kNarrowColumns);
      for (int row = 0; row < 9; ++row) {
        ASSERT_EQ(all.row(row)[column], alone.row(row)[0]) << "row " << row << ", column " << column;
      }
    }
  });
}

TEST(PanelMatMul, BothWidthsOfPanelsGiveTheSameBits) {
  for_each_vector_target([] {
    const PanelOperands operands = uniform_operands(6, 11, 700, 150);
    EXPECT_TRUE(same_bits(operands.run(kNarrowColumns), operands.run(kWideColumns)));
  });
}

TEST(SixteenBits, HoldTheirOwnValuesAlone) {
  for_each_vector_target([] {
    struct Row {
      float value;
      bool float16, bfloat16;
    };
    for (const auto& [value, float16, bfloat16] :
         {Row{0.0f, true, true}, Row{-0.0f, true, true}, Row{1.0f, true, true}, Row{-65504.0f, true, false},
          Row{65536.0f, false, true}, Row{0x1p-24f, true, true}, Row{0x1p-25f, false, true},
          Row{0x1.8p-24f, false, true}, Row{0x1.004p0f, true, false}, Row{0x1.002p0f, false, false},
          Row{0x1.02p0f, true, true}, Row{0x1.01p0f, true, false},
          Row{std::numeric_limits<float>::quiet_NaN(), false, true}}) {
      for (const int at : {0, 15, 16, 20}) {
        std::vector<float> row(21, 0.5f);
        row[static_cast<std::size_t>(at)] = value;
        EXPECT_EQ(are_exact_in_float16(row.data(), 21), float16) << value << " at " << at;
        EXPECT_EQ(are_exact_in_bfloat16(row.data(), 21), bfloat16) << value << " at " << at;
        std::vector<std::uint16_t> halves(21);
        convert_to_float16(row.data(), 21, halves.data());
        if (float16) {
          EXPECT_EQ(float16_to_float(halves[static_cast<std::size_t>(at)]), value);
        }
      }
    }
  });
}

}  // namespace
}  // namespace encdec::kernels
