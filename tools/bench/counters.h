#pragma once

#include <benchmark/benchmark.h>

#include "bench/samples.h"

namespace encdec::bench {

// ENCDEC_BENCH_THREADS, of one operation; 1 if not set.
int thread_count();
// ENCDEC_BENCH_PRECISION, of matmuls; float32 if not set.
Precision precision();
// For both.
PackOptions pack_options();

// Counters of a benchmark that does `work` in each iteration: operations per second, their share of the CPU's peak, and
// those of the bare packed matmuls of the same shapes one after the other. Where reading the weights from memory takes
// longer than computing at the peak, also the share of the memory's bandwidth that reading them once takes. Bytes per
// second of what only moves data.
void count(benchmark::State& state, const Work& work);

}  // namespace encdec::bench
