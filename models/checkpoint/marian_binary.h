#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include "encdec/engine/base/weights.h"
#include "encdec/models/checkpoint/mapped_file.h"

namespace encdec {

// Reads the items of a Marian binary file (marian-dev, src/common/binary.cpp), the format of the models of Firefox
// Translations and Bergamot. Tensors are views of the file.
// - An intgemm8 or intgemm16 matrix [in, out] is stored transposed, with one multiplier: value = integer / multiplier.
//   Its tensor is int8 or int16 [out, in], with a scale. An embedding, whose name contains "Wemb", is not transposed.
// - An item of more than 4 dimensions, or of a type that DataType does not have, becomes uint8 [bytes].
// Throws FileError naming the file and the item, with what was found and what was expected; matrices that were packed
// for one kind of CPU (FBGEMM) are refused.
std::shared_ptr<WeightStore> parse_marian_binary(const FileBytes& file);

inline constexpr std::uint64_t kMarianBinaryVersion = 1;

// Returns whether such a file begins with these bytes.
inline bool is_marian_binary(std::span<const std::byte> bytes) {
  std::uint64_t version = 0;
  if (bytes.size() < sizeof(version)) return false;
  std::memcpy(&version, bytes.data(), sizeof(version));
  return version == kMarianBinaryVersion;
}

}  // namespace encdec
