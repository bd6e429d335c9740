#pragma once

#include <filesystem>
#include <memory>

#include "tests/support/temp_folder.h"

namespace encdec {

// A folder with a small Marian checkpoint of random weights, which generates texts of all lengths.
class RandomMarian {
 public:
  static constexpr int kVocabulary = 100;
  static constexpr std::int32_t kEnd = 0;

  enum class Outliers {
    none,
    // Each output of a feed-forward network has one weight far larger than the others, for an input that is always
    // zero. In float32 and bfloat16 it changes nothing. In int8 it makes the scale so large that the other weights
    // become 0.
    weights,
  };

  // Sizes of the feed-forward networks, and of the vocabulary.
  struct HiddenDims {
    int encoder = 48;
    int decoder = 48;
    int vocabulary = kVocabulary;
  };

  explicit RandomMarian(Outliers outliers = Outliers::none) : RandomMarian(outliers, {}) {}
  explicit RandomMarian(HiddenDims hidden) : RandomMarian(Outliers::none, hidden) {}

  const std::filesystem::path& folder() const { return folder_.path(); }

 private:
  RandomMarian(Outliers outliers, HiddenDims hidden);

  TempFolder folder_;
};

}  // namespace encdec
