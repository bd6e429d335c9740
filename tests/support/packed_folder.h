#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "tests/support/temp_folder.h"

namespace encdec {

// Returns the sorted names of the packed folders NAME.txtar in a folder. tests/golden/README.md describes them.
inline std::vector<std::string> packed_names(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".txtar") names.push_back(entry.path().stem());
  }
  std::ranges::sort(names);
  return names;
}

// Returns the files of the packed folder PACKED.txtar as a folder, which the end of the program removes.
inline const std::filesystem::path& unpacked(const std::filesystem::path& packed) {
  namespace fs = std::filesystem;
  static std::map<fs::path, TempFolder> folders;
  const auto [entry, is_new] = folders.try_emplace(packed);
  const fs::path& folder = entry->second.path();
  if (!is_new) return folder;
  if (fs::is_directory(packed)) fs::copy(packed, folder, fs::copy_options::recursive);
  const auto place_of = [&](const std::string& name) {
    fs::create_directories((folder / name).parent_path());
    return folder / name;
  };
  std::ifstream lines(packed.string() + ".txtar");
  if (!lines) throw std::runtime_error("cannot read " + packed.string() + ".txtar");
  std::ofstream file;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("-- ") && line.ends_with(" --")) {
      file = std::ofstream(place_of(line.substr(3, line.size() - 6)), std::ios::binary);
    } else if (file.is_open()) {
      file << line << '\n';
    } else {
      const std::size_t name_end = line.find(" < ");
      fs::copy_file(packed.parent_path() / line.substr(name_end + 3), place_of(line.substr(0, name_end)));
    }
  }
  if (!file.flush()) throw std::runtime_error("cannot write " + folder.string());
  return folder;
}

}  // namespace encdec
