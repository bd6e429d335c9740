#include "encdec/engine/backend/packed_matrix.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "encdec/engine/base/error.h"
#include "tests/support/random_tensors.h"

#if defined(__aarch64__) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace encdec::backend {
namespace {

WeightRows rows_of(const Tensor& weight) {
  return [&weight](Dim first, Dim count, float* rows, float* /*factors*/) {
    std::copy_n(weight.row(first), count * weight.width(), rows);
  };
}

std::string_view name_of(Precision precision) {
  return backend_for(BackendChoice::automatic, precision).name;
}

// Returns false if the weights are rounded to the precision but stored as float32.
bool stores(Precision precision) {
  return backend_for(BackendChoice::automatic, precision).stored == weight_type(precision);
}

PackedMatrix packed(const Tensor& weight, Precision precision) {
  const auto input_width = static_cast<int>(weight.width());
  const MatMulSpec spec{.input_width = input_width,
                        .output_width = static_cast<int>(weight.rows()),
                        .backend = &backend_for(BackendChoice::automatic, precision)};
  Tensor packed = PackedMatrix::reserve(spec);
  PackedMatrix::pack(spec, 0, spec.output_width, rows_of(weight), packed);
  return PackedMatrix(spec, std::move(packed), nullptr);
}

#if defined(__aarch64__) && defined(__linux__)
TEST(Backends, FollowTheExtensionsOfArm64) {
  const bool matrices = (getauxval(AT_HWCAP2) & HWCAP2_I8MM) != 0 && (getauxval(AT_HWCAP2) & HWCAP2_BF16) != 0;
  EXPECT_EQ(name_of(Precision::float32), "panels");
  EXPECT_EQ(name_of(Precision::bfloat16), matrices ? "matrices" : "panels");
  EXPECT_EQ(name_of(Precision::int8), matrices ? "matrices" : "dots");
  EXPECT_EQ(multiplies_in(BackendChoice::automatic, Precision::bfloat16), matrices);
}
#endif

#if defined(__x86_64__)
// Returns the environment's limit on instruction sets; empty if there is none.
std::string instruction_limit() {
  for (const char* name : {"ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA"}) {
    if (const char* value = std::getenv(name); value != nullptr) return value;
  }
  return "";
}

TEST(Backends, FollowTheLimitOfInstructions) {
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw");
  const std::string limit = instruction_limit();
  const bool lesser = limit.starts_with("AVX2") || limit == "AVX" || limit == "SSE41";
  const bool is_full = avx512 && !lesser;
  // Version 2.6 says "brg:avx512_core" and "gemm:jit", 3.7 "brg_matmul:avx512_core" and "gemm:jit:f32".
  const std::string_view found = onednn_backend(Precision::float32).name;
  EXPECT_TRUE(found.starts_with(is_full ? "brg" : "gemm:jit")) << found;
  if (name_of(Precision::float32) == found) return;  // this build has no kernels of our own
  EXPECT_EQ(name_of(Precision::float32), "panels");
  if (!lesser) return;
  EXPECT_EQ(name_of(Precision::bfloat16), "panels");
  EXPECT_EQ(name_of(Precision::int8), "integers");
  EXPECT_FALSE(multiplies_in(BackendChoice::automatic, Precision::bfloat16));
}
#endif

TEST(PackedMatrix, NeedsAFractionOfTheMemoryInReducedPrecisions) {
  const Tensor weight = RandomTensors(3).uniform({512, 512});
  const auto bytes = [&](Precision precision) { return packed(weight, precision).bytes(); };
  EXPECT_EQ(bytes(Precision::float32), 512u * 512 * 4);
  EXPECT_EQ(bytes(Precision::bfloat16), 512u * 512 * (stores(Precision::bfloat16) ? 2 : 4));
  if (!stores(Precision::int8)) GTEST_SKIP() << "multiplied as float32";
  EXPECT_LE(bytes(Precision::int8), 512u * (512 + 8));
}

TEST(PackedMatrix, RefusesIntegerSumsThatCouldOverflow) {
  if (!stores(Precision::int8)) GTEST_SKIP() << "multiplied as float32";
  const MatMulSpec spec{
      .input_width = 70'000, .output_width = 1, .backend = &backend_for(BackendChoice::automatic, Precision::int8)};
  EXPECT_THROW(PackedMatrix::packed_bytes(spec), BackendError);
}

}  // namespace
}  // namespace encdec::backend
