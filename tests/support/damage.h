#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/engine/base/error.h"
#include "encdec/engine/base/weights.h"

namespace encdec {

// A copy of a text in memory of exactly its size, so that sanitizers report every read beyond the end.
class ExactBytes {
 public:
  explicit ExactBytes(std::string_view text)
      : memory_(std::make_shared<const std::vector<char>>(text.begin(), text.end())) {}

  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(*memory_)); }
  std::shared_ptr<const void> owner() const { return memory_; }

 private:
  std::shared_ptr<const std::vector<char>> memory_;
};

// Reads every byte of every tensor.
inline std::size_t read_all(const WeightStore& store) {
  std::size_t sum = 0;
  for (const auto& [name, tensor] : store.tensors()) {
    for (std::size_t i = 0; i < tensor.bytes(); ++i) sum += std::to_integer<std::size_t>(tensor.raw()[i]);
    if (const Tensor* scale = store.find_scale(name)) {
      for (std::size_t i = 0; i < scale->bytes(); ++i) sum += std::to_integer<std::size_t>(scale->raw()[i]);
    }
  }
  return sum;
}

// The number of damaged files that were read and of those that were refused.
struct DamageReport {
  std::size_t read = 0;
  std::size_t refused = 0;
};

// Calls `read` with `whole` cut off at every byte, and with every byte set to four other values. `read` must return, or
// throw an Error whose message is one short line.
inline DamageReport read_damaged(const std::string& whole, const std::function<void(const std::string&)>& read) {
  DamageReport report;
  const auto try_reading = [&](const std::string& damaged) {
    try {
      read(damaged);
      ++report.read;
    } catch (const Error& error) {
      const std::string_view message = error.what();
      EXPECT_EQ(message.find_first_of("\n\r\033"), message.npos) << message;
      EXPECT_LT(message.size(), 2000u) << message;
      ++report.refused;
    }
  };
  for (std::size_t size = 0; size < whole.size(); ++size) try_reading(whole.substr(0, size));
  std::string damaged = whole;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const auto old = static_cast<unsigned char>(whole[i]);
    for (const int value : {0x00, 0xff, old + 1, old ^ 0x80}) {
      damaged[i] = static_cast<char>(value);
      try_reading(damaged);
    }
    damaged[i] = whole[i];
  }
  return report;
}

}  // namespace encdec
