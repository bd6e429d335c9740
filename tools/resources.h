#pragma once

#include <chrono>
#include <cstdint>

namespace encdec::cli {

// Seconds since construction.
class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

// Largest memory that this process has had, and what it has now, in bytes; 0 where the system does not tell.
std::int64_t peak_resident_bytes();
std::int64_t resident_bytes();

}  // namespace encdec::cli
