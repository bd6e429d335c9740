#include "encdec/engine/backend/onednn.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string_view>
#include <vector>

#include "tests/support/random_tensors.h"

namespace encdec::backend {
namespace {

PackedMatrix packed_matrix(const MatMulSpec& spec, std::uint64_t seed) {
  RandomTensors random(seed);
  const Tensor weight = random.uniform({spec.output_width, spec.input_width});
  const Tensor bias = random.uniform({spec.output_width});
  return {spec, weight.data<float>(), spec.bias ? bias.data<float>() : nullptr};
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}
#endif

TEST(OneDnn, VersionIsThreeNumbers) {
  int major = 0, minor = -1, patch = -1;
  ASSERT_EQ(std::sscanf(onednn_version().c_str(), "%d.%d.%d", &major, &minor, &patch), 3) << onednn_version();
  EXPECT_GE(major, 2);
}

// What limits oneDNN to lesser instructions than the CPU's, if anything does.
std::string instruction_limit() {
  for (const char* name : {"ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA"}) {
    if (const char* value = std::getenv(name); value != nullptr) return value;
  }
  return "";
}

bool carried_by_onednn(const PackedMatrix& matrix) {
  return !MatMulContext().implementation(matrix, 16).starts_with("encdec:");
}

// Either oneDNN's AVX-512 kernels or ours carry all shapes: with others a row's bits would depend on its neighbours.
TEST(OneDnn, EveryShapeRunsOnOneFamilyOfKernels) {
  std::string family = "encdec:";
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")) family = "brg:avx512_core";
  if (instruction_limit().starts_with("AVX2")) family = "encdec:avx2";
  if (instruction_limit() == "AVX" || instruction_limit() == "SSE41") family = "encdec:sse4";
#endif
  for (const int input_width : {1, 7, 64, 300, 513}) {
    for (const int output_width : {1, 13, 64, 100, 512}) {
      for (const Activation activation : {Activation::identity, Activation::gelu}) {
        for (const bool residual : {false, true}) {
          const MatMulSpec spec{input_width, output_width, activation, true, residual};
          const PackedMatrix matrix = packed_matrix(spec, 1);
          MatMulContext context;
          for (const int rows : {1, 2, 16, 31, 256}) {
            EXPECT_TRUE(context.implementation(matrix, rows).starts_with(family))
                << context.implementation(matrix, rows) << " for " << rows << " x " << input_width << " x "
                << output_width;
          }
        }
      }
    }
  }
}

TEST(OneDnn, KeepsABoundedNumberOfPrimitivesAndTheRightResults) {
  const PackedMatrix matrix = packed_matrix({.input_width = 24, .output_width = 40}, 3);
  RandomTensors random(4);
  constexpr int kRows = 600;
  static_assert(kRows > MatMulContext::kMaxPrimitives);
  const Tensor input = random.uniform({kRows, 24});
  Tensor before = Tensor::allocate({3, 40}), after = Tensor::allocate({3, 40});
  MatMulContext context;
  context.run(matrix, {.count = 3, .input = input.data<float>(), .output = before.data<float>()});
  Tensor output = Tensor::allocate({kRows, 40});
  for (int rows = 4; rows <= kRows; ++rows) {
    context.run(matrix, {.count = rows, .input = input.data<float>(), .output = output.data<float>()});
    ASSERT_LE(context.primitives(), MatMulContext::kMaxPrimitives);
  }
  EXPECT_EQ(context.primitives(), carried_by_onednn(matrix) ? MatMulContext::kMaxPrimitives : 0u);
  context.run(
      matrix,
      {.count = 3, .input = input.data<float>(), .output = after.data<float>()});  // dropped in between, made again
  EXPECT_EQ(std::memcmp(before.raw(), after.raw(), before.bytes()), 0);
}

TEST(OneDnn, MemoryStaysFlatOverAThousandRowCounts) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers keep freed memory";
#else
  const PackedMatrix matrix = packed_matrix({.input_width = 16, .output_width = 16}, 5);
  const Tensor input = Tensor::allocate({1000, 16});
  Tensor output = Tensor::allocate({1000, 16});
  MatMulContext context;
  const auto run_all = [&] {
    for (int rows = 1; rows <= 1000; ++rows) {
      context.run(matrix, {.count = rows, .input = input.data<float>(), .output = output.data<float>()});
    }
  };
  run_all();
  const std::size_t warm = resident_bytes();
  for (int repetition = 0; repetition < 3; ++repetition) run_all();
  constexpr std::size_t kNoise = 4 << 20;  // a leak of 2 KiB for each of the 3000 primitives would be above it
  EXPECT_LE(resident_bytes(), warm + kNoise);
#endif
}

TEST(OneDnn, MatricesOfOneSpecDoNotMixUpTheirWeights) {
  const MatMulSpec spec{.input_width = 32, .output_width = 8};
  const PackedMatrix first = packed_matrix(spec, 6), second = packed_matrix(spec, 7);
  RandomTensors random(8);
  const Tensor input = random.uniform({2, 32});
  const auto run = [&](MatMulContext& context, const PackedMatrix& matrix) {
    std::vector<float> output(16);
    context.run(matrix, {.count = 2, .input = input.data<float>(), .output = output.data()});
    return output;
  };
  MatMulContext shared, fresh;
  const auto from_first = run(shared, first);
  EXPECT_EQ(run(shared, second), run(fresh, second));
  EXPECT_EQ(run(shared, first), from_first);
  EXPECT_NE(from_first, run(shared, second));
}

}  // namespace
}  // namespace encdec::backend
