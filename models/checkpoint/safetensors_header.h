#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/engine/dtype.h"
#include "encdec/engine/shape.h"

namespace encdec {

// A tensor that the header of a .safetensors file describes: bytes [begin, end) of the data behind the header.
struct SafetensorsEntry {
  std::string name;
  DataType type = DataType::uint8;
  Shape shape;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// Parses the JSON of a header. The entries come in the order of their data, which they fill exactly: without holes and
// overlaps, from 0 to `data_bytes`. Throws FileError, naming `file` and the tensor, for a header that breaks a rule of
// the format; safetensors.h says which there are. Memory grows with the number of tensors, not with what they claim.
std::vector<SafetensorsEntry> read_safetensors_header(std::string_view text, std::uint64_t data_bytes,
                                                      const std::string& file);

}  // namespace encdec
