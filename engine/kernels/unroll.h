#pragma once

// Put this before a loop over accumulators. Unless gcc unrolls the loop early, it may keep the accumulators in memory
// instead of registers.
#if defined(__clang__)
#define ENCDEC_UNROLL
#else
#define ENCDEC_UNROLL _Pragma("GCC unroll 16")
#endif
