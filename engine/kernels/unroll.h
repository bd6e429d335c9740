#pragma once

// Before a loop over sums that are to stay in registers: gcc may keep them in memory where it does not unroll first.
#if defined(__clang__)
#define ENCDEC_UNROLL
#else
#define ENCDEC_UNROLL _Pragma("GCC unroll 16")
#endif
