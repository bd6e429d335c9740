#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

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

// Sets the counters of a benchmark that does `work` in each iteration. If `work` only moves data: GB/s. Otherwise:
//   GFLOP/s          rate of the layer
//   % of peak        this rate as a share of the CPU's peak
//   bare_GFLOP/s     rate of bare oneDNN matmuls of the same shapes, run one after the other
//   % of bandwidth   share of the memory's bandwidth at which weights are read, each once; only if reading them takes
//                    longer than computing at the peak
void count(benchmark::State& state, const Work& work);

// A loop of arithmetic on registers alone, with enough independent operations to keep the CPU busy.
struct RegisterLoop {
  std::string name;
  // Runs `iterations` of the loop.
  void (*run)(std::int64_t iterations) = nullptr;
  double operations = 0;  // operations in one iteration; a multiplication and its addition are two
};

// Returns a loop of float32 multiply-adds, in the widest vectors that this project's kernels use on this CPU.
RegisterLoop float32_loop();
// Returns a loop for each instruction that this CPU has for int8 and bfloat16: AVX-512 VNNI, AVX-512 BF16, AMX. Ignores
// ONEDNN_MAX_CPU_ISA.
std::vector<RegisterLoop> low_precision_loops();

// Returns the loop of the instructions that matmuls of precision() use; float32_loop() if there are no special ones.
RegisterLoop matmul_loop();

// Returns the operations per second of `threads` threads together.
double measure(const RegisterLoop& loop, int threads);

// Returns the bytes per second that `threads` threads together read from memory. They read much more than most caches
// hold.
double read_bandwidth(int threads);

// Peak rates of this machine with the threads of the benchmarks.
struct Peaks {
  double matmul = 0;          // operations per second of matmul_loop()
  double read_bandwidth = 0;  // bytes per second
};
// Returns the peak rates, measured at the first call.
const Peaks& peaks();

}  // namespace encdec::bench
