#pragma once

#include <filesystem>
#include <string_view>

#include "encdec/engine/base/refuse.h"

namespace encdec {

// Returns whether the path exists. A link to a missing file counts as existing, so that opening it reports the error.
// Throws FileError if the folder cannot be searched.
inline bool file_exists(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::symlink_status(path, error);
  if (status.type() == std::filesystem::file_type::none) refuse(path.string(), "{}", error.message());
  return status.type() != std::filesystem::file_type::not_found;
}

// Returns whether a name read from a file is a plain file name, which cannot lead out of that file's folder.
inline bool is_plain_file_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find_first_of(std::string_view("/\\\0", 3)) == name.npos;
}

}  // namespace encdec
