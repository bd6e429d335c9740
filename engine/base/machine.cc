#include "encdec/engine/base/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <thread>

#include "encdec/engine/base/error.h"

#if defined(__linux__)
#include <sched.h>
#endif
#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace encdec {
namespace {

// Asks Linux for permission to use AMX. Returns false if the CPU has no AMX or Linux refuses.
bool ask_for_tiles() {
#if defined(__x86_64__) && defined(__linux__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kBfloat16 = 1u << 22, kTile = 1u << 24, kInt8 = 1u << 25;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return false;
  if ((d & (kBfloat16 | kTile | kInt8)) != (kBfloat16 | kTile | kInt8)) return false;
  // One request covers all threads of the process (Linux, Documentation/arch/x86/xstate.rst).
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}

// Returns quota / period, rounded down but at least 1. Returns a large number if the quota is unlimited.
int whole_cpus(const std::string& quota, double period) {
  constexpr int kNoLimit = 1 << 20;
  if (quota == "max" || quota.starts_with('-') || period <= 0) return kNoLimit;
  return std::max(1, static_cast<int>(std::strtod(quota.c_str(), nullptr) / period));
}

// Returns the number of CPUs that control groups (version 2 or 1) grant. Returns a large number if there is no limit.
int control_group_cpus() {
  int fewest = whole_cpus("max", 0);
  for (const std::string& limit : control_group_files("cpu.max")) {
    std::istringstream words(limit);
    std::string quota;
    double period = 0;
    if (words >> quota >> period) fewest = std::min(fewest, whole_cpus(quota, period));
  }
  std::string quota;
  double period = 0;
  if (std::ifstream("/sys/fs/cgroup/cpu/cpu.cfs_quota_us") >> quota &&
      std::ifstream("/sys/fs/cgroup/cpu/cpu.cfs_period_us") >> period) {
    fewest = std::min(fewest, whole_cpus(quota, period));
  }
  return fewest;
}

// Returns the size in bytes after `key` in a /proc file, which has lines such as "VmRSS: 1234 kB".
std::optional<std::int64_t> bytes_in(const char* file, std::string_view key) {
  std::ifstream lines(file);
  std::string word;
  while (lines >> word) {
    std::int64_t kibibytes = 0;
    if (word == key && lines >> kibibytes) return kibibytes * 1024;
  }
  return std::nullopt;
}

// The source of memory sizes. getrusage() would count the memory of the program that called exec(), such as Python.
constexpr const char* kProcess = "/proc/self/status";

}  // namespace

int available_cpus() {
  int count = static_cast<int>(std::thread::hardware_concurrency());
#if defined(__linux__)
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) count = CPU_COUNT(&set);
#endif
  return std::clamp(count, 1, control_group_cpus());
}

int default_threads() {
  const auto number_in = [](std::string_view text) {
    int number = 0;
    const char* end = text.data() + text.size();
    const bool is_number = std::from_chars(text.data(), end, number).ptr == end;
    return is_number && number <= kMaxThreads ? number : 0;
  };
  if (const char* ours = std::getenv("ENCDEC_THREADS"); ours != nullptr && *ours != '\0') {
    if (const int number = number_in(ours); number > 0) return number;
    throw ConfigError(fmt::format("ENCDEC_THREADS is '{}', expected a number from 1 to {}", ours, kMaxThreads));
  }
  if (const char* openmp = std::getenv("OMP_NUM_THREADS")) {
    const std::string_view all = openmp;  // one number for each level of nesting, separated by commas
    if (const int number = number_in(all.substr(0, all.find(','))); number > 0) return number;
  }
  return available_cpus();
}

std::size_t available_memory() {
  const auto machine = bytes_in("/proc/meminfo", "MemAvailable:");
  std::size_t available = machine ? static_cast<std::size_t>(*machine) : std::numeric_limits<std::size_t>::max();
  const auto limits = control_group_files("memory.max"), used = control_group_files("memory.current");
  for (std::size_t i = 0; i < std::min(limits.size(), used.size()); ++i) {
    if (limits[i] == "max") continue;
    const auto number = [](const std::string& text) { return std::strtoull(text.c_str(), nullptr, 10); };
    available = std::min<std::size_t>(available, number(limits[i]) - std::min(number(limits[i]), number(used[i])));
  }
  return available;
}

std::int64_t resident_bytes() {
  return bytes_in(kProcess, "VmRSS:").value_or(0);
}

std::int64_t peak_resident_bytes() {
  return bytes_in(kProcess, "VmHWM:").value_or(0);
}

bool has_matrix_tiles() {
  static const bool has = ask_for_tiles();
  return has;
}

std::vector<std::string> control_group_files(std::string_view name, const std::filesystem::path& process,
                                             const std::filesystem::path& groups) {
  // The line "0::/path" of /proc/self/cgroup contains the path of the group (version 2).
  std::filesystem::path group = "/";
  std::ifstream membership(process / "cgroup");
  constexpr std::string_view kUnified = "0::";
  for (std::string line; std::getline(membership, line);) {
    if (line.starts_with(kUnified)) group = line.substr(kUnified.size());
  }
  std::vector<std::string> contents;
  // Read the file in the group and in all its parents.
  for (group = group.lexically_normal();; group = group.parent_path()) {
    std::ifstream file(groups / group.relative_path() / name);
    std::string content;
    if (std::getline(file, content)) contents.push_back(content);
    if (!group.has_relative_path()) return contents;
  }
}

}  // namespace encdec
