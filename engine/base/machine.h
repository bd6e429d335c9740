#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace encdec {

// Returns the number of CPUs (at least 1) that affinity mask and control groups grant this process.
int available_cpus();

// Upper bound for a number of threads; anything larger is assumed to be a typo.
inline constexpr int kMaxThreads = 1024;

// Returns the default number of threads. The first of these that is set wins:
//   1. ENCDEC_THREADS. Throws ConfigError unless it is a number from 1 to kMaxThreads.
//   2. The first number of OMP_NUM_THREADS (set by Ray, Spark and Slurm), if from 1 to kMaxThreads.
//   3. available_cpus().
int default_threads();

// Returns the number of bytes that this process may still allocate, within the machine's free
// memory and the limits of its control groups.
std::size_t available_memory();

// Return the current and peak resident memory in bytes; 0 if the operating system has no numbers.
std::int64_t resident_bytes();
std::int64_t peak_resident_bytes();

// Returns true if this CPU has AMX and the operating system lets this process use it.
bool has_matrix_tiles();

// Returns the first line of the file `name` in each control group (version 2) of this process: its
// own group first, then the parents up to the visible root. Groups without the file are skipped.
// Example: for "cpu.max", {"200000 100000", "max 100000"}.
// `process` and `groups` are parameters for tests only.
std::vector<std::string> control_group_files(std::string_view name, const std::filesystem::path& process = "/proc/self",
                                             const std::filesystem::path& groups = "/sys/fs/cgroup");

}  // namespace encdec
