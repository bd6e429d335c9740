#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/engine/base/error.h"
#include "encdec/models/checkpoint/checkpoint.h"

namespace encdec {

// Returns whether this build reads the format of a checkpoint's weights; see ENCDEC_FORMATS.
inline bool can_read_weights(const std::filesystem::path& folder) {
  try {
    open_checkpoint(folder);
  } catch (const UnsupportedModelError&) {
    return false;
  }
  return true;
}

// Returns the sorted cases of tests/golden that have this file and weights that this build reads, as family and folder:
// "bart/base".
inline std::vector<std::string> golden_cases_with(std::string_view file) {
  std::vector<std::string> names;
  for (const auto& family : std::filesystem::directory_iterator(ENCDEC_GOLDEN_DIR)) {
    if (!family.is_directory()) continue;
    for (const auto& entry : std::filesystem::directory_iterator(family)) {
      if (std::filesystem::exists(entry.path() / file) && can_read_weights(entry.path() / "model")) {
        names.push_back(family.path().filename() / entry.path().filename());
      }
    }
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace encdec
