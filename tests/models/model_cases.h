#pragma once

#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "encdec/models/model.h"
#include "tests/support/message_of.h"

// The models of tests/golden/marian, and helpers of their tests.
namespace encdec::model_cases {

inline const std::filesystem::path kMarianCases = std::filesystem::path(ENCDEC_GOLDEN_DIR) / "marian";

inline Model load(const std::string& name, int threads = 1) {
  return Model::load(kMarianCases / name / "model", {.threads = threads});
}

inline std::vector<TokenIds> random_sources(int count, int longest, std::int32_t vocabulary) {
  std::mt19937 random(7);
  std::vector<TokenIds> sources(static_cast<std::size_t>(count));
  for (TokenIds& source : sources) {
    source.resize(1 + random() % static_cast<unsigned>(longest));
    for (std::int32_t& id : source) id = static_cast<std::int32_t>(random() % static_cast<unsigned>(vocabulary));
  }
  return sources;
}

}  // namespace encdec::model_cases
