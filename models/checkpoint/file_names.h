#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "encdec/engine/base/refuse.h"

namespace encdec {

// Returns true if `path` exists. A symlink to a missing file counts as existing: opening it will
// report the error. Throws FileError if the folder cannot be searched.
inline bool file_exists(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::symlink_status(path, error);
  if (status.type() == std::filesystem::file_type::none) refuse(path.string(), "{}", error.message());
  return status.type() != std::filesystem::file_type::not_found;
}

// Returns the sorted names of the files in `folder`. Sets `error` if they cannot be listed.
inline std::vector<std::string> list_files(const std::filesystem::path& folder, std::error_code& error) {
  std::vector<std::string> names;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

// Like the function above, but throws FileError on failure.
inline std::vector<std::string> list_files(const std::filesystem::path& folder) {
  std::error_code error;
  std::vector<std::string> names = list_files(folder, error);
  if (error) refuse(folder.string(), "{}", error.message());
  return names;
}

// Returns true if `name`, read from a file, is a plain name that cannot lead out of the folder.
inline bool is_plain_file_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find_first_of(std::string_view("/\\\0", 3)) == name.npos;
}

}  // namespace encdec
