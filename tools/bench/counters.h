#pragma once

#include <benchmark/benchmark.h>

#include "bench/samples.h"

namespace encdec::bench {

// Returns the number of threads of one operation: ENCDEC_BENCH_THREADS, or 1 if not set.
int thread_count();
// Returns the precision of matmuls: ENCDEC_BENCH_PRECISION, or float32 if not set.
Precision precision();
// Returns options with thread_count() and precision().
PackOptions pack_options();

// Sets the counters of a benchmark that does `work` in each iteration. If `work` only moves data: GB/s. Otherwise:
//   GFLOP/s          rate of the layer
//   % of peak        this rate as a share of the CPU's peak
//   bare_GFLOP/s     rate of bare packed matmuls of the same shapes, run one after the other
//   % of bandwidth   share of the memory's bandwidth at which weights are read, each once; only if reading them takes
//                    longer than computing at the peak
//   Gtanh/s          rate of hyperbolic tangents, if there are any
void count(benchmark::State& state, const Work& work);

}  // namespace encdec::bench
