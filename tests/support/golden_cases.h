#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/engine/base/error.h"
#include "encdec/models/checkpoint/checkpoint.h"
#include "encdec/models/session/token_ids.h"

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

// Returns rows of ids, which are padded with -1 in the file; empty if the tensor is missing.
inline std::vector<TokenIds> id_rows(const WeightStore& store, const std::string& name) {
  std::vector<TokenIds> rows;
  if (store.find(name) == nullptr) return rows;
  const Tensor& tensor = *store.find(name);
  for (Dim b = 0; b < tensor.shape()[0]; ++b) {
    const auto* row = tensor.data<std::int32_t>() + b * tensor.width();
    rows.emplace_back(row, std::find(row, row + tensor.width(), -1));
  }
  return rows;
}

// Returns a text with '_' for each character that the name of a test may not have.
inline std::string as_test_name(std::string text) {
  std::ranges::replace_if(
      text, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return text;
}
inline std::string name_of_case(const testing::TestParamInfo<std::string>& instance) {
  return as_test_name(instance.param);
}

}  // namespace encdec
