#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "encdec/engine/backend/packed_matrix.h"
#include "encdec/engine/kernels/matmul_kernels.h"
#include "tests/engine/matmul_fixture.h"
#include "tests/support/comparison.h"

// Matrix products with weights of 4 bits.
namespace encdec {
namespace {

Tensor weights_of(const MatMul& matmul) {
  Tensor weights = Tensor::allocate({matmul.output_width(), matmul.input_width()});
  for (Dim row = 0; row < weights.rows(); ++row) matmul.copy_weights(row, weights.row(row));
  return weights;
}

MatMulCase int4_case(std::uint64_t seed, MatMulWidths widths, int rows) {
  MatMulCase c = uniform_case(seed, widths, rows, seed % 2 == 0, seed % 3 == 0);
  c.precision = Precision::int4;
  c.backend = BackendChoice::encdec;
  return c;
}

TEST(NibbleMatMul, MultipliesItsWeightsByInputsRoundedToInt8) {
  std::uint64_t seed = 1;
  for (const MatMulWidths widths : kWidths) {
    if (widths.input < 5) continue;  // the bound counts the rounding of sums, not of scales
    for (const int rows : kRowCounts) {
      MatMulCase c = int4_case(++seed, widths, rows);
      const Tensor output = c.run(1 + static_cast<int>(seed % 3));
      c.weights = {weights_of(c.matmul(1))};
      c.input = rounded(c.input, Precision::int8);
      c.precision = Precision::float32;
      EXPECT_TRUE(is_close_to(c.expected(), output)) << describe(c);
    }
  }
}

TEST(NibbleMatMul, ARowHasTheSameBitsAloneAndWithAnyThreads) {
  const MatMulCase c = int4_case(6, {127, 641}, 33);
  const Tensor all = c.run(1);
  EXPECT_TRUE(same_bits(all, c.run(3)));
  RunState state(Graph("test"), std::make_shared<ThreadTeam>(1));
  const MatMul matmul = c.matmul(1);
  for (const int count : {1, 2, 3, 4, 5, 11}) {
    for (std::int64_t first = 0; first + count <= 33; first += count) {
      EXPECT_TRUE(same_bits(Tensor(all).slice(first, count), c.run(matmul, state, first, count)));
    }
  }
}

// A kernel of int8 for any panel order.
template <int columns, int group>
void multiply_plainly(const kernels::PackedPanels& matrix, const kernels::MatMulRows& rows) {
  const auto* panel = reinterpret_cast<const std::int8_t*>(matrix.panels);
  ASSERT_LE(matrix.output_width, columns);
  for (int row = 0; row < rows.count; ++row) {
    const kernels::MatMulRows one = rows.part(row, 1);
    std::array<std::int32_t, columns> sums{};
    for (int k = 0; k < matrix.input_width; ++k) {
      for (int column = 0; column < columns; ++column) {
        sums[static_cast<std::size_t>(column)] +=
            std::to_integer<std::int8_t>(one.input[k]) * panel[(k / group * columns + column) * group + k % group];
      }
    }
    finish_accumulators(matrix.epilogue,
                        kernels::AccumulatorBlock<std::int32_t>{sums.data(), columns, 1, 0, matrix.output_width},
                        one.output);
  }
}

template <int columns, int group>
backend::Backend unpacking() {
  backend::Backend result = backend::backend_for(BackendChoice::encdec, Precision::int4);
  result.panel_order = {columns, group};
  result.input = kernels::InputForm::int8;
  result.multiply = [](const backend::PackedMatrix& matrix, const kernels::MatMulRows& rows,
                       backend::MatMulPrimitives& primitives) {
    std::byte* panel =
        primitives.scratch(kernels::PanelOrder{columns, group}.panel_elements(matrix.spec().input_width));
    kernels::multiply_unpacked(matrix.panels(), rows, {columns, group}, multiply_plainly<columns, group>,
                               reinterpret_cast<std::int8_t*>(panel));
  };
  return result;
}

Tensor product(const backend::Backend& backend, const Tensor& weights, const Tensor& input) {
  const int inputs = static_cast<int>(weights.width()), outputs = static_cast<int>(weights.rows());
  const backend::MatMulSpec spec{.input_width = inputs, .output_width = outputs, .backend = &backend};
  Tensor packed = backend::PackedMatrix::reserve(spec);
  const auto copy = [&](Dim first, Dim count, float* rows, float* /*factors*/) {
    std::copy_n(weights.row(first), count * inputs, rows);
  };
  backend::PackedMatrix::pack(spec, 0, outputs, copy, packed);
  const backend::PackedMatrix matrix(spec, packed, nullptr);
  const std::size_t row_bytes = matrix.input_row_bytes();
  std::vector<std::byte> rows(static_cast<std::size_t>(input.rows()) * row_bytes);
  std::vector<float> scales;
  for (Dim row = 0; row < input.rows(); ++row) {
    std::byte* to = rows.data() + static_cast<std::size_t>(row) * row_bytes;
    scales.push_back(kernels::convert_row(backend.input, input.row(row), inputs, to));
  }
  Tensor output = Tensor::allocate({input.rows(), outputs});
  backend::MatMulPrimitives primitives;
  matrix.multiply({.count = static_cast<int>(input.rows()),
                   .input = rows.data(),
                   .input_bytes = row_bytes,
                   .output = {.output = output.data<float>(), .stride = outputs, .row_scales = scales.data()}},
                  primitives);
  return output;
}

// Each CPU has one backend, but all give the same bits.
TEST(NibbleMatMul, WeightsUnpackedForAnotherKernelGiveTheSameBits) {
  for (const auto& [inputs, outputs] : {std::pair(32, 16), {100, 70}, {257, 131}}) {
    RandomTensors random(8);
    const Tensor weights = random.uniform({outputs, inputs}), input = random.uniform({11, inputs});
    const Tensor expected = product(backend::backend_for(BackendChoice::encdec, Precision::int4), weights, input);
    EXPECT_TRUE(same_bits(product(unpacking<16, 2>(), weights, input), expected)) << inputs;
    EXPECT_TRUE(same_bits(product(unpacking<16, 4>(), weights, input), expected)) << inputs;
    EXPECT_TRUE(same_bits(product(unpacking<16, 8>(), weights, input), expected)) << inputs;
    EXPECT_TRUE(same_bits(product(unpacking<64, 4>(), weights, input), expected)) << inputs;
  }
}

TEST(NibbleMatMul, LevelsOfABlockAreExact) {
  MatMulCase c = int4_case(1, {70, 20}, 1);
  Tensor weights = Tensor::allocate({20, 70});
  RandomTensors random(5);
  for (Dim i = 0; i < weights.elements(); ++i) {
    weights.data<float>()[i] = 15.0f * (i % 70 % 32 == 0 ? -8.0f : static_cast<float>(random.below(16) - 8));
  }
  c.weights = {weights};
  EXPECT_TRUE(equals(Matrix(weights), weights_of(c.matmul(1))));
}

TEST(NibbleMatMul, WeightsAreNearTheGivenOnes) {
  for (const double sigma : {1e-20, 0.02, 1e10}) {
    MatMulCase c = int4_case(1, {512, 64}, 1);
    RandomTensors random(7);
    Tensor weights = Tensor::allocate({64, 512});
    double squares = 0, errors = 0;
    for (Dim i = 0; i < weights.elements(); ++i) {
      double sum = 0;  // nearly normal: the sum of 12 uniform numbers
      for (int n = 0; n < 12; ++n) sum += static_cast<double>(random.below(1 << 20)) / (1 << 20);
      weights.data<float>()[i] = static_cast<float>((sum - 6) * sigma);
    }
    c.weights = {weights};
    const Tensor found = weights_of(c.matmul(1));
    for (Dim i = 0; i < weights.elements(); ++i) {
      const double x = weights.data<float>()[i];
      squares += x * x;
      errors += (x - found.data<float>()[i]) * (x - found.data<float>()[i]);
    }
    EXPECT_LT(std::sqrt(errors / squares), 0.085) << sigma;  // 0.095 with the largest magnitude as level -8
  }
}

TEST(NibbleMatMul, OutputsOfZerosAndOfNaNStayTheirOwn) {
  MatMulCase c = int4_case(1, {40, 20}, 2);
  Tensor weights = copy_of(c.weights[0]);
  std::fill_n(weights.row(3), 40, 0.0f);
  weights.row(4)[35] = NAN;
  c.weights = {weights};
  const Tensor output = c.run(1);
  for (int row = 0; row < 2; ++row) {
    for (int column = 0; column < 20; ++column) {
      const float y = output.row(row)[column];
      EXPECT_EQ(std::isnan(y), column == 4);
      EXPECT_EQ(y == 0.0f, column == 3);
    }
  }
}

}  // namespace
}  // namespace encdec
