#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
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
constexpr std::array kFusedActivations = {Activation::identity,  Activation::relu,         Activation::gelu,
                                          Activation::gelu_tanh, Activation::gelu_sigmoid, Activation::silu,
                                          Activation::tanh,      Activation::sigmoid};

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

  PackedPanels matrix(const void* panels) const {
    return {.panels = static_cast<const std::byte*>(panels),
            .input_width = input_width(),
            .output_width = output_width(),
            .epilogue = {.bias = bias.empty() ? nullptr : bias.data<float>(), .activation = activation}};
  }

  // Multiplies rows [first, first + count) by weights stored in `type`, whose values they must have.
  Tensor run(int columns, int first, int count, DataType type = DataType::float32) const {
    const bool wide = columns == kWideColumns;
    const std::vector<float> panels = packed(columns);
    std::vector<std::uint16_t> halves(panels.size());
    if (type == DataType::float16) convert_to_float16(panels.data(), static_cast<int>(panels.size()), halves.data());
    std::vector<float> widened(std::size_t{kPanelChunk} * kWideColumns);
    if (type == DataType::bfloat16) {
      std::ranges::transform(panels, halves.begin(), [](float x) { return std::bit_cast<std::uint32_t>(x) >> 16; });
    }
    const auto form = type == DataType::float32   ? wide ? PanelForm::wide_float32 : PanelForm::narrow_float32
                      : type == DataType::float16 ? wide ? PanelForm::wide_float16 : PanelForm::narrow_float16
                      : wide                      ? PanelForm::wide_bfloat16
                                                  : PanelForm::narrow_bfloat16;
    Tensor output = Tensor::allocate({count, output_width()});
    std::fill_n(output.data<float>(), output.elements(), std::numeric_limits<float>::quiet_NaN());
    multiply_panels(matrix(type == DataType::float32 ? static_cast<const void*>(panels.data()) : halves.data()),
                    {.count = count,
                     .input = reinterpret_cast<const std::byte*>(input.row(first)),
                     .output = {.residual = residual.empty() ? nullptr : residual.row(first),
                                .output = output.data<float>(),
                                .stride = output_width()}},
                    form, widened.data());
    return output;
  }
  Tensor run(int columns) const { return run(columns, 0, static_cast<int>(input.rows())); }

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

TEST(PanelMatMul, FollowsTheFormulaForEveryActivation) {
  for_each_vector_target([] {
    RandomTensors random(2);
    for (const int input_width : kInputWidths) {
      for (const int output_width : kOutputWidths) {
        const int rows = 3 + random.below(20);
        PanelOperands operands = uniform_operands(3, rows, input_width, output_width);
        operands.activation =
            kFusedActivations[static_cast<std::size_t>(random.below(static_cast<int>(kFusedActivations.size())))];
        if (random.below(2) == 0) operands.residual = Tensor();
        if (random.below(2) == 0) operands.bias = Tensor();
        const int columns = random.below(4) == 0 ? kWideColumns : kNarrowColumns;
        ASSERT_TRUE(is_close_to(operands.expected(), operands.run(columns)))
            << fmt::format("{} x {} -> {}, {}", rows, input_width, output_width, to_string(operands.activation));
      }
    }
  });
}

TEST(PanelMatMul, ARowHasTheSameBitsAloneAndAmongOtherRows) {
  for_each_vector_target([] {
    for (const int columns : {kNarrowColumns, kWideColumns}) {
      PanelOperands operands = uniform_operands(4, 600, kPanelChunk + 70, 83);
      operands.activation = Activation::gelu;
      const Tensor all = operands.run(columns);
      for (int row = 0; row < 600; row += 13) {
        ASSERT_TRUE(same_bits(all.slice(row, 1), operands.run(columns, row, 1))) << "row " << row;
      }
      for (int rows = 1; rows <= 70; ++rows) {
        ASSERT_TRUE(same_bits(all.slice(5 * rows, rows), operands.run(columns, 5 * rows, rows))) << rows << " rows";
      }
      ASSERT_TRUE(same_bits(all.slice(200, 256), operands.run(columns, 200, 256)));
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

TEST(PanelMatMul, WeightsOf16BitsGiveTheBitsOfFloats) {
  for_each_vector_target([] {
    for (const DataType type : {DataType::float16, DataType::bfloat16}) {
      PanelOperands operands = uniform_operands(7, 40, 700, 150);
      const Tensor weight = RandomTensors(10).uniform({150, 700}, 0.1, type);
      copy_as_float(weight, 0, weight.elements(), operands.weight.data<float>());
      for (const int columns : {kNarrowColumns, kWideColumns}) {
        for (const int rows : {1, 2, 5, 6, 7, 12, 13, 18, 40}) {
          EXPECT_TRUE(same_bits(operands.run(columns, 0, rows), operands.run(columns, 0, rows, type)))
              << fmt::format("{} rows, panels of {}, {}", rows, columns, to_string(type));
        }
      }
    }
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
        EXPECT_EQ(are_float16(row.data(), 21), float16) << value << " at " << at;
        EXPECT_EQ(are_bfloat16(row.data(), 21), bfloat16) << value << " at " << at;
        std::vector<std::uint16_t> halves(21);
        convert_to_float16(row.data(), 21, halves.data());
        if (float16) {
          EXPECT_EQ(float16_to_float(halves[static_cast<std::size_t>(at)]), value);
        }
      }
    }
  });
}

TEST(PanelMatMul, WritesStridedRowsAndNothingBetweenThem) {
  for_each_vector_target([] {
    PanelOperands operands = uniform_operands(9, 13, kPanelChunk + 40, 50);
    operands.residual = Tensor();
    const Tensor dense = operands.run(kNarrowColumns);
    const std::vector<float> panels = operands.packed(kNarrowColumns);
    Tensor apart = Tensor::allocate({13, 61});
    std::fill_n(apart.data<float>(), apart.elements(), 7.0f);
    multiply_panels(operands.matrix(panels.data()),
                    {.count = 13, .input = operands.input.raw(), .output = {.output = apart.row(0) + 5, .stride = 61}},
                    PanelForm::narrow_float32, nullptr);
    for (int row = 0; row < 13; ++row) {
      for (int column = 0; column < 61; ++column) {
        const bool written = column >= 5 && column < 55;
        ASSERT_EQ(apart.row(row)[column], written ? dense.row(row)[column - 5] : 7.0f) << row << ", " << column;
      }
    }
  });
}

TEST(PanelMatMul, ANaNStaysInItsRow) {
  for_each_vector_target([] {
    PanelOperands operands = uniform_operands(8, 17, 40, 50);
    const Tensor clean = operands.run(kNarrowColumns);
    operands.input.row(8)[3] = std::numeric_limits<float>::quiet_NaN();
    const Tensor poisoned = operands.run(kNarrowColumns);
    EXPECT_TRUE(same_bits(clean.slice(0, 8), poisoned.slice(0, 8)));
    EXPECT_TRUE(same_bits(clean.slice(9, 8), poisoned.slice(9, 8)));
    EXPECT_NE(poisoned.row(8)[0], poisoned.row(8)[0]);
  });
}

}  // namespace
}  // namespace encdec::kernels
