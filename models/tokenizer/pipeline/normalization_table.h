#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace encdec {

// The normalisation table of a sentencepiece model (precompiled_charsmap): texts and what replaces them. A double-array
// trie of darts-clone, whose values point into the replacements. A unit of the trie is 32 bits: the low byte and the
// top bit are the label by which it is entered, bit 8 says that a match ends here, the rest where its children lie.
class NormalizationTable {
 public:
  // `bytes` is the size of the trie, the trie, the replacements. Throws TokenizerError, beginning with `name`, if the
  // sizes do not fit or the replacements are not UTF-8.
  NormalizationTable(std::string_view bytes, const std::string& name);

  // Throws TokenizerError, beginning with `name`, for a trie that is not in whole blocks, leads outside of itself or in
  // a circle, and for replacements without an end or of more than 256 bytes. Where a table has not been checked, what
  // leads outside is no match.
  void check(const std::string& name) const;

  struct Match {
    std::size_t bytes = 0;  // 0 if there is none
    std::string_view replacement = {};
  };
  enum class Wanted { shortest, longest };
  // The text of the table that `text` begins with.
  Match find(std::string_view text, Wanted wanted) const;

 private:
  std::size_t children(std::size_t unit) const;
  bool ends_match(std::size_t unit) const { return (units_[unit] >> 8 & 1) != 0; }
  // The replacement that the unit there points to.
  std::optional<std::string_view> replacement(std::size_t unit) const;
  // Where the children of a unit begin, which text can lead to.
  std::size_t checked_children(std::size_t unit, const std::string& name) const;

  std::vector<std::uint32_t> units_;
  std::string replacements_;
};

}  // namespace encdec
