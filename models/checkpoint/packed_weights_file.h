#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "encdec/models/checkpoint/content_hash.h"

namespace encdec {

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
