#pragma once

#include <filesystem>
#include <string_view>

namespace encdec {

// Whether a name stands for anything that can be seen.
inline bool is_there(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

// Whether a name that a file gives stays in the file's folder.
inline bool is_bare_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find_first_of(std::string_view("/\\\0", 3)) == name.npos;
}

}  // namespace encdec
