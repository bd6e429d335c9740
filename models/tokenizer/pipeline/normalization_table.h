#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace encdec {

// The normalisation table of a sentencepiece model (precompiled_charsmap): texts and their replacements. The texts are
// a double-array trie of darts-clone; its values are offsets into the replacements. A unit of the trie has 32 bits:
// - bits 0 to 7 and 31: label, the byte that leads to this unit (bit 31 marks a unit with a value)
// - bit 8: a match ends at this unit
// - other bits: offset of the children
class NormalizationTable {
 public:
  // Reads the size of the trie (4 bytes), the trie, and the replacements. Throws TokenizerError, beginning with `name`,
  // if the sizes do not fit or the replacements are not UTF-8.
  NormalizationTable(std::string_view bytes, const std::string& name);

  // Throws TokenizerError, beginning with `name`, if
  // - the trie is not a multiple of 256 units, has a cycle, or points outside itself
  // - a replacement has more than 256 bytes or no terminating NUL
  // find() is also safe for a table that was not checked: a step outside the table does not match.
  void check(const std::string& name) const;

  struct Match {
    std::size_t bytes = 0;  // length in the text; 0 if there is no match
    std::string_view replacement = {};
  };
  enum class Wanted { shortest, longest };
  // Returns the shortest or the longest prefix of `text` that is in the table.
  Match find(std::string_view text, Wanted wanted) const;

 private:
  std::size_t children(std::size_t unit) const;
  bool ends_match(std::size_t unit) const { return (units_[unit] >> 8 & 1) != 0; }
  // Returns the replacement at the offset in `unit`; nullopt if unit or offset are outside the table.
  std::optional<std::string_view> replacement(std::size_t unit) const;
  // Returns children(unit). Throws TokenizerError if the children or the replacement are outside the table.
  std::size_t checked_children(std::size_t unit, const std::string& name) const;

  std::vector<std::uint32_t> units_;
  std::string replacements_;
};

}  // namespace encdec
