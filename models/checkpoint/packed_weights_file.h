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

// A 128-bit content hash. Contents with equal hashes do not occur by accident, but can be constructed.
using ContentHash = std::array<std::byte, 16>;

// An incremental XXH3 hash.
class ContentHasher {
 public:
  ContentHasher();
  ~ContentHasher();
  ContentHasher(const ContentHasher&) = delete;
  ContentHasher& operator=(const ContentHasher&) = delete;

  // Adds bytes. Splitting them into several calls does not change the hash.
  void add(std::span<const std::byte> bytes);
  // Adds the length of `text` and its bytes, so that "ab", "c" and "a", "bc" get different hashes.
  void add_text(std::string_view text);
  void add_number(std::uint64_t number);

  ContentHash hash() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

ContentHash content_hash(std::span<const std::byte> bytes);

// An entry of a file of packed matrices, used only on the machine that wrote it. Little-endian:
//   "ENCDECPW", version u32, number of matrices u32, key [16], head bytes u64, file bytes u64
//   for each matrix: name length u32, name, bytes u64, hash [16]
//   hash [16] of everything above, which ends the head
//   the matrices in this order, each at the next multiple of 64, with zeros between them
// Offsets are not stored, so matrices cannot overlap or lie outside the file.
struct PackedEntry {
  std::string name;
  std::size_t bytes = 0;
  ContentHash hash = {};   // hash of the matrix
  std::size_t offset = 0;  // position in the file
};

inline constexpr std::size_t kMaxPackedName = 65'535;  // maximum length of a name
inline constexpr std::uint32_t kPackedWeightsVersion = 1;

// Returns the head of a file with these matrices, and sets their offsets.
std::string packed_weights_head(const ContentHash& key, std::vector<PackedEntry>& entries);

// Returns the matrices listed in a file. Each lies inside the file, and names are unique; the matrices' hashes are not
// checked. Every error message begins with `file`. Throws FileError unless `bytes` are a complete file of this version
// with this key.
std::vector<PackedEntry> read_packed_weights(std::span<const std::byte> bytes, const ContentHash& key,
                                             const std::string& file);

}  // namespace encdec
