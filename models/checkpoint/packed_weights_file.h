#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace encdec {

// 128 bits that stand for a content: two different ones get the same by nothing but design.
using ContentHash = std::array<std::byte, 16>;

// XXH3, fed piece by piece.
class ContentHasher {
 public:
  ContentHasher();
  ~ContentHasher();
  ContentHasher(const ContentHasher&) = delete;
  ContentHasher& operator=(const ContentHasher&) = delete;

  // Bytes as such: where one call ends and the next begins makes no difference.
  void add(std::span<const std::byte> bytes);
  // With its length, so that neighbours cannot exchange their ends.
  void add_text(std::string_view text);
  void add_number(std::uint64_t number);

  // The hash of everything so far.
  ContentHash hash() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The hash of bytes that are there as a whole.
ContentHash content_hash(std::span<const std::byte> bytes);

// A file of packed matrices, for the machine that wrote it. Numbers are little-endian:
//   "ENCDECPW", version u32, number of matrices u32, key [16], bytes of the head u64, bytes of the file u64
//   for each matrix: length of its name u32, name, bytes u64, hash [16]
//   hash [16] of all that stands before it: the end of the head
//   the matrices in this order, each at the next multiple of 64, zeros between them
// So there are no offsets that could overlap or lead elsewhere.
struct PackedEntry {
  std::string name;
  std::size_t bytes = 0;
  ContentHash hash = {};   // of the bytes
  std::size_t offset = 0;  // in the file
};

// What the format does not take: longer names.
inline constexpr std::size_t kMaxPackedName = 65'535;
inline constexpr std::uint32_t kPackedWeightsVersion = 1;

// The head of a file of these matrices; sets their offsets.
std::string packed_weights_head(const ContentHash& key, std::vector<PackedEntry>& entries);

// The matrices of a file, all of them inside it and each name once; their own hashes are not compared. `file` begins
// every message. Throws FileError unless it is a whole file of this version with this key.
std::vector<PackedEntry> read_packed_weights(std::span<const std::byte> bytes, const ContentHash& key,
                                             const std::string& file);

}  // namespace encdec
