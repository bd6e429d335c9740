#pragma once

#include <benchmark/benchmark.h>

#include <functional>
#include <string>

#include "bench/samples.h"

namespace encdec::bench {

// Returns the number of threads of one operation: ENCDEC_BENCH_THREADS, or 1 if not set.
int thread_count();
// Returns the precision of matmuls: ENCDEC_BENCH_PRECISION, or float32 if not set.
Precision precision();
// Returns options with thread_count(), precision() and the backend of the benchmark that runs now.
PackOptions pack_options();

using RunBenchmark = std::function<void(benchmark::State&)>;
// Sets the arguments of a benchmark.
using SetSizes = std::function<void(benchmark::internal::Benchmark&)>;

// Registers a benchmark that does not multiply matrices.
void register_once(const std::string& name, const RunBenchmark& run, const SetSizes& sizes);

// Registers a benchmark once for each backend, onednn and encdec, or for that of ENCDEC_BACKEND if it is set. The
// backend's name follows the benchmark's: "Encoder/onednn".
void register_for_backends(const std::string& name, const RunBenchmark& run, const SetSizes& sizes);

// Registers the benchmarks of whole encoders and decoder steps.
void register_stacks();

// Sets the counters of a benchmark that does `work` in each iteration. If `work` only moves data: GB/s. Otherwise:
//   GFLOP/s          rate of the layer
//   % of peak        this rate as a share of the CPU's peak
//   bare_GFLOP/s     rate of bare oneDNN matmuls of the same shapes, run one after the other
//   % of bandwidth   share of the memory's bandwidth at which weights are read, each once; only if reading them takes
//                    longer than computing at the peak
void count(benchmark::State& state, const Work& work);

}  // namespace encdec::bench
