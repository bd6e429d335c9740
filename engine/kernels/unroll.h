#pragma once

// Put this before a loop over sums that must stay in registers: gcc may keep the sums in memory if it does not unroll
// the loop first.
#if defined(__clang__)
#define ENCDEC_UNROLL
#else
#define ENCDEC_UNROLL _Pragma("GCC unroll 16")
#endif
