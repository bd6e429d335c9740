#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "output_file.h"

namespace encdec::cli {

// Writes float32 tensors to a .safetensors file piece by piece, so that they need not fit into memory.
// Elements that are never written are zero. The file gets its name when everything is there; see OutputFile.
class SafetensorsFile {
 public:
  struct Entry {
    std::string name;
    std::vector<std::int64_t> shape;
  };

  // Throws FileError if the file cannot be written or is not a regular one.
  SafetensorsFile(const std::string& path, const std::vector<Entry>& entries);

  // Elements [first, first + count) of tensor number `entry`.
  void write(std::size_t entry, std::int64_t first, const float* values, std::int64_t count);
  void commit() { file_.commit(); }

 private:
  OutputFile file_;
  std::vector<std::uint64_t> offsets_;  // in the file, of each tensor's first byte
};

}  // namespace encdec::cli
