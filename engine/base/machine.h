#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace encdec {

// Returns the number of CPUs that this process may use, at least 1. Respects its affinity mask and control groups.
int available_cpus();

// Upper bound for a number of threads; anything larger is assumed to be a typo.
inline constexpr int kMaxThreads = 1024;

// Returns the default number of threads, from the first of these that is set:
//   1. ENCDEC_THREADS. Throws ConfigError unless it is a number from 1 to kMaxThreads.
//   2. The first number of OMP_NUM_THREADS, which Ray, Spark and Slurm set. Skipped unless it is from 1 to kMaxThreads.
//   3. available_cpus().
int default_threads();

// Bytes of memory that this process may still allocate: the machine's, and its control groups'.
std::size_t available_memory();

// Bytes of this process that are resident, now and at most since it began; 0 if the system does not say.
std::int64_t resident_bytes();
std::int64_t peak_resident_bytes();

// Returns true if this CPU has AMX and the operating system lets this process use it.
bool has_matrix_tiles();

// Returns the first line of the file `name` ("cpu.max", for example "200000 100000") in each control group (version 2)
// that holds this process: the process's own group first, then its parents up to the root that the process sees. Skips
// groups without such a file.
// `process` and `groups` are parameters for tests only.
std::vector<std::string> control_group_files(std::string_view name, const std::filesystem::path& process = "/proc/self",
                                             const std::filesystem::path& groups = "/sys/fs/cgroup");

}  // namespace encdec
