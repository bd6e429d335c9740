#include "encdec/engine/backend/onednn.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "encdec/engine/base/machine.h"
#include "encdec/engine/kernels/panel_order.h"
#include "tests/support/random_tensors.h"

namespace encdec::backend {
namespace {

constexpr kernels::PanelOrder kWideOrder = {kernels::kWideColumns, 1};

// Returns a random matrix [rows, columns] packed as one panel. Its rows are in order. REQUIRES: columns <= 64, the
// width of a panel.
std::vector<float> one_panel(int rows, int columns, std::uint64_t seed) {
  constexpr int kWide = kernels::kWideColumns;
  std::vector<float> panel(kWideOrder.panel_elements(rows));
  const Tensor values = RandomTensors(seed).uniform({rows, columns});
  for (int row = 0; row < rows; ++row) std::copy_n(values.row(row), columns, panel.data() + row * kWide);
  return panel;
}

// Skipped on CPUs without AVX-512: oneDNN has no kernels for packed weights there, and the backend does not use oneDNN.
class OneDnnMatMul : public testing::Test {
 protected:
  void SetUp() override {
    if (!instruction_sets().avx512) GTEST_SKIP() << "no AVX-512";
  }
};

TEST(OneDnn, VersionIsThreeNumbers) {
  int major = 0, minor = -1, patch = -1;
  ASSERT_EQ(std::sscanf(onednn_version().c_str(), "%d.%d.%d", &major, &minor, &patch), 3) << onednn_version();
  EXPECT_GE(major, 2);
}

TEST_F(OneDnnMatMul, KeepsABoundedNumberOfPrimitivesAndTheRightResults) {
  const PrimitiveSpec spec{.input_width = 24, .output_width = 40, .order = kWideOrder};
  const std::vector<float> weights = one_panel(24, 40, 3);
  constexpr int kRows = 600;
  static_assert(kRows > MatMulPrimitives::kMaxPrimitives);
  const Tensor input = RandomTensors(4).uniform({kRows, 24});
  std::vector<float> output(kRows * 40), before(3 * 40);
  MatMulPrimitives primitives;
  const auto run = [&](int rows) {
    primitives.run(spec,
                   {.rows = rows, .input = input.data<float>(), .weights = weights.data(), .output = output.data()});
  };
  run(3);
  std::copy_n(output.begin(), before.size(), before.begin());
  for (int rows = 4; rows <= kRows; ++rows) {
    run(rows);
    ASSERT_LE(primitives.size(), MatMulPrimitives::kMaxPrimitives);
  }
  EXPECT_EQ(primitives.size(), MatMulPrimitives::kMaxPrimitives);
  run(3);  // dropped by the runs between, and built again
  EXPECT_TRUE(std::equal(before.begin(), before.end(), output.begin()));
}

TEST_F(OneDnnMatMul, MemoryStaysFlatOverAThousandRowCounts) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers keep freed memory";
#else
  const PrimitiveSpec spec{.input_width = 16, .output_width = 16, .order = kWideOrder};
  const std::vector<float> weights = one_panel(16, 16, 5), input(1000 * 16);
  std::vector<float> output(1000 * 16);
  MatMulPrimitives primitives;
  const auto run_all = [&] {
    for (int rows = 1; rows <= 1000; ++rows) {
      primitives.run(spec, {.rows = rows, .input = input.data(), .weights = weights.data(), .output = output.data()});
    }
  };
  run_all();
  const std::int64_t warm = resident_bytes();
  for (int repetition = 0; repetition < 3; ++repetition) run_all();
  constexpr std::int64_t kNoise = 4 << 20;  // bytes; a leak of 2 KiB per primitive would exceed this
  EXPECT_LE(resident_bytes(), warm + kNoise);
#endif
}

// Only the packed kernels of oneDNN give a row the same bits whichever rows are beside it.
TEST_F(OneDnnMatMul, EveryShapeRunsOnItsPackedKernels) {
  MatMulPrimitives primitives;
  for (const int input_width : {1, 7, 64, 300, 513}) {
    for (const int output_width : {1, 13, 64, 100, 512}) {
      const PrimitiveSpec spec{input_width, output_width, DataType::float32, kWideOrder};
      for (const int rows : {1, 2, 16, 31, 256}) {
        const std::string name = primitives.implementation(spec, rows);
        EXPECT_TRUE(name.starts_with("brg"))
            << name << " for " << rows << " x " << input_width << " x " << output_width;
      }
    }
  }
}

TEST_F(OneDnnMatMul, MatricesOfOneSpecDoNotMixUpTheirWeights) {
  const PrimitiveSpec spec{.input_width = 32, .output_width = 8, .order = kWideOrder};
  const std::vector<float> first = one_panel(32, 8, 6), second = one_panel(32, 8, 7);
  const Tensor input = RandomTensors(8).uniform({2, 32});
  const auto run = [&](MatMulPrimitives& primitives, const std::vector<float>& weights) {
    std::vector<float> output(16);
    primitives.run(spec, {.rows = 2, .input = input.data<float>(), .weights = weights.data(), .output = output.data()});
    return output;
  };
  MatMulPrimitives shared, fresh;
  const auto from_first = run(shared, first);
  EXPECT_EQ(run(shared, second), run(fresh, second));
  EXPECT_EQ(run(shared, first), from_first);
  EXPECT_NE(from_first, run(shared, second));
}

}  // namespace
}  // namespace encdec::backend
