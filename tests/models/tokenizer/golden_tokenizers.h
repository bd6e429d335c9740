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
#include "tests/support/packed_folder.h"

namespace encdec {

inline const std::filesystem::path kGoldenFolder = ENCDEC_GOLDEN_DIR;

// Returns the packed folders in a folder of tests/golden, as paths below tests/golden.
inline std::vector<std::string> golden_folders(const std::string& group) {
  std::vector<std::string> names = packed_names(kGoldenFolder / group);
  for (std::string& name : names) name = group + "/" + name;
  return names;
}

// Returns a folder below tests/golden; one that is packed is unpacked.
inline std::filesystem::path golden_folder(const std::filesystem::path& name) {
  const std::filesystem::path folder = kGoldenFolder / name;
  return file_exists(folder.string() + ".txtar") ? unpacked(folder) : folder;
}

// Loads the tokenizer of a folder below tests/golden as one of the model_type in its config.json, if there is one.
inline std::unique_ptr<Tokenizer> golden_tokenizer(const std::filesystem::path& name) {
  const std::filesystem::path folder = golden_folder(name), config = folder / "config.json";
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
