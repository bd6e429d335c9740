#pragma once

#include <filesystem>
#include <string_view>

#include "encdec/engine/base/refuse.h"

namespace encdec {

// Whether a folder has this name, also as a link that leads nowhere: opening that is an error then. Throws FileError if
// the folder does not tell.
inline bool is_there(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::symlink_status(path, error);
  if (status.type() == std::filesystem::file_type::none) refuse(path.string(), "{}", error.message());
  return status.type() != std::filesystem::file_type::not_found;
}

// Whether a name that a file gives stays in the file's folder.
inline bool is_bare_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find_first_of(std::string_view("/\\\0", 3)) == name.npos;
}

}  // namespace encdec
