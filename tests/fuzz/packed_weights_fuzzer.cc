// Calls read_packed_weights() with arbitrary bytes, and with the same bytes after correcting sizes and hash of the
// head.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "encdec/models/checkpoint/packed_weights_file.h"
#include "tests/fuzz/require.h"

namespace encdec {
namespace {

constexpr std::size_t kKeyAt = 16, kHeadBytesAt = 32, kFileBytesAt = 40, kTableAt = 48;

void read(std::span<const std::byte> bytes, const ContentHash& key) {
  std::vector<PackedEntry> entries;
  const char* const file = "x.encdec-packed";
  if (!reads_or_refuses(file, [&] { entries = read_packed_weights(bytes, key, file); })) return;
  std::size_t end = 0;
  std::set<std::string> names;
  for (const PackedEntry& entry : entries) {
    require(names.insert(entry.name).second, "a name is there once");
    require(entry.offset % 64 == 0, "matrices are aligned");
    require(entry.offset >= end && entry.bytes <= bytes.size() - entry.offset, "matrices lie apart, inside the file");
    unsigned sum = 0;
    for (const std::byte byte : bytes.subspan(entry.offset, entry.bytes)) sum += std::to_integer<unsigned>(byte);
    require(sum <= 255 * entry.bytes, "bytes can be read");
    end = entry.offset + entry.bytes;
  }
  std::vector<PackedEntry> again = entries;
  const std::string head = packed_weights_head(key, again);
  require(head.size() <= bytes.size() && std::memcmp(head.data(), bytes.data(), head.size()) == 0,
          "what is read is written as it was");
}

}  // namespace
}  // namespace encdec

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace encdec;
  const auto bytes = std::as_bytes(std::span(data, size));
  ContentHash key{};
  if (size >= kTableAt) std::ranges::copy(bytes.subspan(kKeyAt, key.size()), key.begin());
  read(bytes, key);
  if (size < kTableAt + sizeof(ContentHash)) return 0;

  std::vector<std::byte> copy(bytes.begin(), bytes.end());
  const std::uint64_t file_bytes = size;
  std::uint64_t head_bytes = 0;
  std::memcpy(&head_bytes, copy.data() + kHeadBytesAt, sizeof(head_bytes));
  head_bytes = std::clamp<std::uint64_t>(head_bytes, kTableAt + sizeof(ContentHash), size);
  std::memcpy(copy.data() + kHeadBytesAt, &head_bytes, sizeof(head_bytes));
  std::memcpy(copy.data() + kFileBytesAt, &file_bytes, sizeof(file_bytes));
  const std::size_t hashed = static_cast<std::size_t>(head_bytes) - sizeof(ContentHash);
  std::ranges::copy(content_hash(std::span(copy).first(hashed)), copy.begin() + static_cast<std::ptrdiff_t>(hashed));
  read(copy, key);
  return 0;
}
