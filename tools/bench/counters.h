#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/samples.h"

namespace encdec::bench {

// Returns the threads of one operation: ENCDEC_BENCH_THREADS, by default 1.
int thread_count();
// Returns the precision of matmuls: ENCDEC_BENCH_PRECISION, by default float32.
Precision precision();
// Returns options with thread_count(), precision() and the backend of the current benchmark.
PackOptions pack_options();

using RunBenchmark = std::function<void(benchmark::State&)>;
// Sets the arguments of a benchmark.
using SetSizes = std::function<void(benchmark::internal::Benchmark&)>;

// Registers a benchmark that does not multiply matrices.
void register_once(const std::string& name, const RunBenchmark& run, const SetSizes& sizes);

// Registers a benchmark for each backend, onednn and encdec, or only for ENCDEC_BACKEND if it is set. Appends the
// backend to the name: "Encoder/onednn".
void register_for_backends(const std::string& name, const RunBenchmark& run, const SetSizes& sizes);

// Sets the counters of a benchmark that does `work` in each iteration. If `work` only moves data: GB/s. Otherwise:
//   GFLOP/s          rate of the layer
//   % of peak        rate of the layer / peak rate of the CPU
//   bare_GFLOP/s     rate of bare oneDNN matmuls of the same shapes, run one after the other
//   % of bandwidth   rate of reading each weight once / memory bandwidth; only if reading at full bandwidth takes
//                    longer than computing at the peak rate
void count(benchmark::State& state, const Work& work);

// A loop of arithmetic on registers, with enough independent operations to keep the CPU busy.
struct RegisterLoop {
  std::string name;
  void (*run)(std::int64_t iterations) = nullptr;
  double operations = 0;  // operations per iteration; a multiply-add counts as two
};

// Returns a loop of float32 FMAs on the widest vectors that the engine's kernels use on this CPU.
RegisterLoop float32_loop();
// Returns a loop for each int8 and bfloat16 instruction of this CPU: AVX-512 VNNI, AVX-512 BF16, AMX. Ignores
// ONEDNN_MAX_CPU_ISA.
std::vector<RegisterLoop> low_precision_loops();

// Returns the loop of the instructions that matmuls of precision() use; by default float32_loop().
RegisterLoop matmul_loop();

// Returns the total operations per second of `threads` threads.
double measure(const RegisterLoop& loop, int threads);

// Returns the total bytes per second that `threads` threads read from memory. They read more data than most caches
// hold.
double read_bandwidth(int threads);

// Peak rates of this machine with thread_count() threads.
struct Peaks {
  double matmul = 0;          // operations per second of matmul_loop()
  double read_bandwidth = 0;  // bytes per second
};
// Returns the peak rates. The first call measures them.
const Peaks& peaks();

}  // namespace encdec::bench
