#pragma once

#include <filesystem>
#include <string_view>

#include "encdec/models/checkpoint/mapped_file.h"

namespace encdec {

// Endings of the compressed files that read_unpacked() decompresses.
inline constexpr std::string_view kPackedEndings[] = {".gz", ".zst"};

// Returns a file name without any of kPackedEndings.
inline std::string_view without_packing(std::string_view name) {
  for (const std::string_view ending : kPackedEndings) {
    if (name.ends_with(ending)) return name.substr(0, name.size() - ending.size());
  }
  return name;
}

// Returns the content of a file. A file that ends with .gz or .zst is decompressed into memory;
// others are mapped. Throws FileError, naming the file, if it cannot be read, its compressed data
// is damaged or has trailing bytes, or it grows more than weights and vocabularies do.
FileBytes read_unpacked(const std::filesystem::path& path);

}  // namespace encdec
