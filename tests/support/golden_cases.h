#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace encdec {

// Returns the sorted cases of tests/golden that have this file, as family and folder: "bart/base".
inline std::vector<std::string> golden_cases_with(std::string_view file) {
  std::vector<std::string> names;
  for (const auto& family : std::filesystem::directory_iterator(ENCDEC_GOLDEN_DIR)) {
    if (!family.is_directory()) continue;
    for (const auto& entry : std::filesystem::directory_iterator(family)) {
      if (std::filesystem::exists(entry.path() / file)) {
        names.push_back(family.path().filename() / entry.path().filename());
      }
    }
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace encdec
