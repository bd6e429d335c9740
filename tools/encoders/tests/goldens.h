#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "encdec/models/checkpoint/json.h"
#include "encdec/models/model.h"
#include "tests/support/packed_folder.h"

namespace encdec {

inline const std::filesystem::path kGoldens = std::filesystem::path(ENCDEC_TOOLS_DIR) / "encoders/tests/golden";

// Returns the sorted names of the goldens in kGoldens / `group`, with results of other programs.
inline std::vector<std::string> golden_names(const std::string& group) {
  std::vector<std::string> names = packed_names(kGoldens / group);
  for (std::string& name : names) name = group + "/" + name;
  return names;
}

// Unpacks a golden and returns its folder.
inline const std::filesystem::path& golden(const std::string& name) {
  return unpacked(kGoldens / name);
}

inline nlohmann::json expected_of(const std::string& name) {
  return read_json_object(golden(name) / "expected.json").value();
}

inline Model golden_model(const std::string& name, const LoadOptions& options = {}) {
  return Model::load(golden(name) / "model", options);
}

using Rows = std::vector<std::vector<float>>;

inline Rows rows_of(const Tensor& tensor) {
  Rows rows;
  for (Dim i = 0; i < tensor.rows(); ++i) rows.emplace_back(tensor.row(i), tensor.row(i) + tensor.width());
  return rows;
}

inline void expect_near(const Rows& found, const Rows& expected, float tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_THAT(found[i], testing::Pointwise(testing::FloatNear(tolerance), expected[i])) << "row " << i;
  }
}

// Returns the name of a golden for the name of a test.
inline std::string test_name(const testing::TestParamInfo<std::string>& info) {
  return std::filesystem::path(info.param).filename();
}

}  // namespace encdec
