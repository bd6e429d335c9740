#pragma once

#include <cstddef>
#include <cstdint>

namespace encdec {

// CPUs that this process may use (its affinity mask and control group taken into account), at least 1.
int available_cpus();

// More is a typing error.
inline constexpr int kMaxThreads = 1024;

// How many threads to use where nobody says it: ENCDEC_THREADS or the first number of OMP_NUM_THREADS of the
// environment, as what divides a machine among processes sets it (Ray, Spark, Slurm), else available_cpus(). Throws
// ConfigError for ENCDEC_THREADS that is no number from 1 to kMaxThreads; what it does not understand of the other, it
// passes over.
int default_threads();

// Bytes of memory that this process may still allocate: the machine's, and its control groups'.
std::size_t available_memory();

// Bytes of this process that are resident, now and at most since it began; 0 if the system does not say.
std::int64_t resident_bytes();
std::int64_t peak_resident_bytes();

}  // namespace encdec
