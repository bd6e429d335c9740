#include "bench/counters.h"

#if defined(__x86_64__) && defined(__linux__)

#include <encdec/engine/base/machine.h>
#include <immintrin.h>

#include <array>

namespace encdec::bench {
namespace {

constexpr int kChains = 12;  // number of accumulators; see vector_peaks.cc

// Runs one instruction on kChains accumulators. The loop is in assembly, because compilers would not keep an array of
// accumulators in registers. The registers are not initialised: the values do not affect the speed.
#define ENCDEC_RUN_CHAINS(instruction)                                                                                 \
  for (std::int64_t i = 0; i < iterations; ++i) {                                                                      \
    asm volatile(".irp sum, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12\n" instruction " %%zmm0, %%zmm0, %%zmm\\sum\n.endr"  \
                 :                                                                                                     \
                 :                                                                                                     \
                 : "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12"); \
  }                                                                                                                    \
  asm volatile("vzeroupper")

void run_vnni(std::int64_t iterations) {
  ENCDEC_RUN_CHAINS("vpdpbusd");
}

void run_bf16(std::int64_t iterations) {
  ENCDEC_RUN_CHAINS("vdpbf16ps");
}

// The operand of LDTILECFG: eight tiles, each with 16 rows of 64 bytes.
struct alignas(64) TileConfig {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::array<std::uint8_t, 14> reserved{};
  std::array<std::uint16_t, 16> row_bytes{64, 64, 64, 64, 64, 64, 64, 64};
  std::array<std::uint8_t, 16> rows{16, 16, 16, 16, 16, 16, 16, 16};
};
static_assert(sizeof(TileConfig) == 64);
// The object is static, because gcc 12 does not know that _tile_loadconfig() reads the whole struct.
constexpr TileConfig kTileConfig;

constexpr int kTileProducts = 4;  // tile products per iteration, with separate accumulators

#define ENCDEC_RUN_TILES(multiply)                \
  _tile_loadconfig(&kTileConfig);                 \
  for (std::int64_t i = 0; i < iterations; ++i) { \
    multiply(0, 4, 6);                            \
    multiply(1, 4, 7);                            \
    multiply(2, 5, 6);                            \
    multiply(3, 5, 7);                            \
  }                                               \
  _tile_release()

__attribute__((target("amx-tile,amx-int8"))) void run_amx_int8(std::int64_t iterations) {
  ENCDEC_RUN_TILES(_tile_dpbssd);
}

__attribute__((target("amx-tile,amx-bf16"))) void run_amx_bf16(std::int64_t iterations) {
  ENCDEC_RUN_TILES(_tile_dpbf16ps);
}

}  // namespace
}  // namespace encdec::bench

#endif

namespace encdec::bench {

std::vector<RegisterLoop> low_precision_loops() {
  std::vector<RegisterLoop> loops;
#if defined(__x86_64__) && defined(__linux__)
  constexpr double kVectorBytes = 64, kTileSums = 16 * 16;
  if (__builtin_cpu_supports("avx512vnni"))
    loops.push_back({"int8 AVX-512 VNNI", run_vnni, 2 * kVectorBytes * kChains});
  if (has_matrix_tiles()) loops.push_back({"int8 AMX", run_amx_int8, 2 * kVectorBytes * kTileSums * kTileProducts});
  if (__builtin_cpu_supports("avx512bf16")) loops.push_back({"bfloat16 AVX-512", run_bf16, kVectorBytes * kChains});
  if (has_matrix_tiles()) loops.push_back({"bfloat16 AMX", run_amx_bf16, kVectorBytes * kTileSums * kTileProducts});
#endif
  return loops;
}

}  // namespace encdec::bench
