#include "stats.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>

namespace encdec::cli {
namespace {

// getrusage() would also count what the process was before exec(), a large Python program for one.
std::int64_t status_bytes(std::string_view key) {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    std::int64_t kibibytes = 0;
    if (word == key && status >> kibibytes) return kibibytes * 1024;
  }
  return 0;
}

}  // namespace

std::string to_json(const Stats& stats) {
  const double seconds = stats.generate_seconds;
  return nlohmann::ordered_json{
      {"load_seconds", stats.load_seconds},
      {"encode_seconds", stats.encode_seconds},
      {"decode_seconds", stats.decode_seconds},
      {"total_seconds", stats.total_seconds},
      {"source_tokens", stats.source_tokens},
      {"generated_tokens", stats.generated_tokens},
      {"tokens_per_second", seconds > 0 ? static_cast<double>(stats.generated_tokens) / seconds : 0.0},
      {"peak_resident_bytes", peak_resident_bytes()},
  }
      .dump();
}

std::int64_t peak_resident_bytes() {
  return status_bytes("VmHWM:");
}
std::int64_t resident_bytes() {
  return status_bytes("VmRSS:");
}

}  // namespace encdec::cli
