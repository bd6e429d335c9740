#include "resources.h"

#include <fstream>
#include <string>
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

std::int64_t peak_resident_bytes() {
  return status_bytes("VmHWM:");
}
std::int64_t resident_bytes() {
  return status_bytes("VmRSS:");
}

}  // namespace encdec::cli
