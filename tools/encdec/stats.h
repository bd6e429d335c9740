#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace encdec::cli {

// Seconds since construction.
class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

// What `generate --stats` tells.
struct Stats {
  double load_seconds = 0;
  double encode_seconds = 0;
  double decode_seconds = 0;
  double generate_seconds = 0;  // in calls of generate: texts to ids, encoding, decoding, ids to texts
  double total_seconds = 0;     // loading, reading and writing too
  std::int64_t source_tokens = 0;
  std::int64_t generated_tokens = 0;
};

// A JSON object on one line; its tokens_per_second are generated tokens over generate_seconds.
std::string to_json(const Stats& stats);

// Largest memory that this process has had, and what it has now, in bytes; 0 where the system does not tell.
std::int64_t peak_resident_bytes();
std::int64_t resident_bytes();

}  // namespace encdec::cli
