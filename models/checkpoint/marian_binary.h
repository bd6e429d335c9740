#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include "encdec/engine/base/weights.h"
#include "encdec/models/checkpoint/mapped_file.h"

namespace encdec {

// Reads the items of a Marian binary file (marian-dev, src/common/binary.cpp), in which Firefox
// Translations and Bergamot publish models. Tensors are views of the file.
// - An intgemm8 or intgemm16 matrix [in, out] is stored transposed, with one multiplier: value =
//   integer / multiplier. It becomes an int8 or int16 tensor [out, in] with a scale. An embedding,
//   whose name contains "Wemb", is not transposed.
// - An item of more than 4 dimensions, or of a type without a DataType, becomes uint8 [bytes].
// Throws FileError, naming the file and the item, also for matrices that are packed for one CPU (FBGEMM).
std::shared_ptr<WeightStore> parse_marian_binary(const FileBytes& file);

inline constexpr std::uint64_t kMarianBinaryVersion = 1;

// Returns true if `bytes` begin like a Marian binary file.
inline bool is_marian_binary(std::span<const std::byte> bytes) {
  std::uint64_t version = 0;
  if (bytes.size() < sizeof(version)) return false;
  std::memcpy(&version, bytes.data(), sizeof(version));
  return version == kMarianBinaryVersion;
}

}  // namespace encdec
