#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace encdec::bench {

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
