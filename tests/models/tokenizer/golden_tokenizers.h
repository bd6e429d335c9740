#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/checkpoint/file_names.h"
#include "encdec/models/checkpoint/json.h"
#include "encdec/models/tokenizer/load_tokenizer.h"

namespace encdec {

inline const std::filesystem::path kGoldenFolder = ENCDEC_GOLDEN_DIR;

// Returns the folders in a folder of tests/golden, as paths below tests/golden.
inline std::vector<std::string> golden_folders(std::string_view group) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kGoldenFolder / group)) {
    if (entry.is_directory()) names.push_back(std::filesystem::relative(entry.path(), kGoldenFolder));
  }
  std::ranges::sort(names);
  return names;
}

// Loads the tokenizer of a folder below tests/golden as one of the model_type in its config.json, if there is one.
inline std::unique_ptr<Tokenizer> golden_tokenizer(const std::filesystem::path& name) {
  const std::filesystem::path folder = kGoldenFolder / name, config = folder / "config.json";
  return load_tokenizer(folder, file_exists(config) ? read_json_object(config).required_string("model_type") : "");
}

inline std::vector<std::string> golden_texts(std::string_view group) {
  return read_json(kGoldenFolder / group / "texts.json");
}

// Names the folder in the name of a test.
inline std::string name_of_folder(const testing::TestParamInfo<std::string>& test) {
  return std::filesystem::path(test.param).filename();
}

}  // namespace encdec
