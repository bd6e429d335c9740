#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace encdec::bench {

// Arithmetic without memory: as many independent operations as the CPU needs to be busy, on registers alone.
struct RegisterLoop {
  std::string name;
  // Runs `iterations` of the loop.
  void (*run)(std::int64_t iterations) = nullptr;
  double operations = 0;  // of one iteration; a multiplication with its addition are two
};

// Fused multiply-adds of float32 in the widest vectors that the kernels of this project use here.
RegisterLoop float32_loop();
// What this CPU has for int8 and bfloat16, ONEDNN_MAX_CPU_ISA or not: AVX-512 VNNI, AVX-512 BF16, AMX.
std::vector<RegisterLoop> low_precision_loops();

// That of the instructions which matmuls of precision() use; float32's where they have none of their own.
RegisterLoop matmul_loop();

// Operations per second of so many threads at once.
double measure(const RegisterLoop& loop, int threads);

// Bytes per second that so many threads read together from memory: far more of it than most caches hold.
double read_bandwidth(int threads);

// What this machine can do with the benchmarks' threads; measured at the first call.
struct Peaks {
  double matmul = 0;          // operations per second of matmul_loop()
  double read_bandwidth = 0;  // bytes per second
};
const Peaks& peaks();

}  // namespace encdec::bench
