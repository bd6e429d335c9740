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

// A 128-bit hash of some content. Different contents do not get the same hash by accident. The
// hash is not cryptographic: contents with equal hashes can be constructed.
using ContentHash = std::array<std::byte, 16>;

// An incremental XXH3 hash.
class ContentHasher {
 public:
  ContentHasher();
  ~ContentHasher();
  ContentHasher(const ContentHasher&) = delete;
  ContentHasher& operator=(const ContentHasher&) = delete;

  // Adds bytes. How they are divided among calls makes no difference.
  void add(std::span<const std::byte> bytes);
  // Adds the length of `text` and its bytes, so that the texts "ab", "c" and "a", "bc" get different hashes.
  void add_text(std::string_view text);
  void add_number(std::uint64_t number);

  // Returns the hash of everything added so far.
  ContentHash hash() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Returns the hash of `bytes`.
ContentHash content_hash(std::span<const std::byte> bytes);

// An entry of a file of packed matrices. Such a file is for the machine that wrote it. Numbers are little-endian:
//   "ENCDECPW", version u32, number of matrices u32, key [16], bytes of the head u64, bytes of the file u64
//   for each matrix: length of its name u32, name, bytes u64, hash [16]
//   hash [16] of everything above; the head ends here
//   the matrices in this order, each at the next multiple of 64, zeros between them
// Offsets are not stored, so that none can overlap or lead out of the file.
struct PackedEntry {
  std::string name;
  std::size_t bytes = 0;
  ContentHash hash = {};   // hash of the matrix
  std::size_t offset = 0;  // position in the file
};

// Maximum length of a name.
inline constexpr std::size_t kMaxPackedName = 65'535;
inline constexpr std::uint32_t kPackedWeightsVersion = 1;

// Returns the head of a file with these matrices, and sets their offsets.
std::string packed_weights_head(const ContentHash& key, std::vector<PackedEntry>& entries);

// Returns the matrices listed in a file. All lie inside the file, and each name occurs once. The hashes of the matrices
// are not checked. `file` begins every message. Throws FileError unless `bytes` are a complete file of this version
// with this key.
std::vector<PackedEntry> read_packed_weights(std::span<const std::byte> bytes, const ContentHash& key,
                                             const std::string& file);

}  // namespace encdec
