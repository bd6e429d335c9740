#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace encdec {

// A part of a text, in bytes, and the text to put in its place.
struct Replacement {
  std::size_t begin = 0, end = 0;
  std::string by = {};
};

// Returns the text with all replacements, which are in order and do not overlap.
std::string replaced(std::string_view text, std::span<const Replacement> replacements);

// Returns the positions in replaced() of positions in the text, which do not decrease. A position inside a replaced
// part becomes the beginning of what replaces it.
class PlaceMover {
 public:
  explicit PlaceMover(std::span<const Replacement> replacements) : left_(replacements) {}
  std::size_t operator()(std::size_t place);

 private:
  std::span<const Replacement> left_;
  std::size_t added_ = 0, removed_ = 0;
};
// The same for one position.
inline std::size_t moved(std::size_t place, std::span<const Replacement> replacements) {
  return PlaceMover(replacements)(place);
}

// Returns the places of `words` in a translation, in the order of `words`. A word stands there as often as in the
// source, and each time whole: "5" is not in "15". Returns nullopt if one does not.
std::optional<std::vector<std::size_t>> find_kept(std::string_view translation, std::string_view source,
                                                  std::span<const std::string> words);

// Returns how often a term stands in a translation, whatever its case and its ending: "cell" in "Cells".
std::size_t count_term(std::string_view translation, std::string_view term, bool is_spaceless);

// Returns words that models may copy although they know none of them, to translate in place of other words. First rare
// words of one script, as in the training data of the models of Firefox, then numbers, then names.
std::span<const std::string_view> stand_ins();

}  // namespace encdec
