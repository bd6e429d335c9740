#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace encdec {

// A byte range of a text, and the text that replaces it.
struct Replacement {
  std::size_t begin = 0, end = 0;
  std::string by = {};
};

// Returns the text with all replacements applied. REQUIRES: they are in order and do not overlap.
std::string replaced(std::string_view text, std::span<const Replacement> replacements);

// Maps positions, which must not decrease, to positions in replaced(). A position inside a replaced
// range maps to the beginning of the replacement.
class PositionMover {
 public:
  explicit PositionMover(std::span<const Replacement> replacements) : left_(replacements) {}
  std::size_t operator()(std::size_t position);

 private:
  std::span<const Replacement> left_;
  std::size_t added_ = 0, removed_ = 0;
};
inline std::size_t moved(std::size_t position, std::span<const Replacement> replacements) {
  return PositionMover(replacements)(position);
}

// Returns the offset of each word in a translation, or nullopt unless each word occurs as often as in the source. Only
// whole words count: "5" is not in "15".
std::optional<std::vector<std::size_t>> find_kept(std::string_view translation, std::string_view source,
                                                  std::span<const std::string> words);

// Counts a term in a translation, ignoring case and endings: "Cells" contains "cell".
std::size_t count_term(std::string_view translation, std::string_view term, bool is_spaceless);

// Returns unusual words that models tend to copy, as placeholders for protected terms: rare words,
// as in the training data of the Firefox models, then numbers, then names.
std::span<const std::string_view> stand_ins();

}  // namespace encdec
