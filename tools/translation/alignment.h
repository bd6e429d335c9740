#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "encdec/models/model.h"
#include "encdec/translation/text/inline_codes.h"

namespace encdec {

// The units of a source text, and their tokens.
class SourceUnits {
 public:
  // Splits units at `cuts`, which are in ascending order. `languages` are the translation's.
  SourceUnits(const Tokenizer& tokenizer, const std::string& text, const EncodeOptions& languages,
              std::span<const std::size_t> cuts = {});

  const std::vector<TextUnit>& units() const { return units_; }
  // Returns the number of special tokens before the text.
  std::size_t specials_before() const { return specials_before_; }
  // Adds the weights of tokens to the weights of their units. Divides the weight of a token in proportion to the sizes
  // of its units.
  void add(std::span<const float> tokens, std::span<float> units) const;

 private:
  std::vector<TextUnit> units_;
  std::vector<std::pair<std::size_t, std::size_t>> tokens_ = {};  // token range [first, end) of each unit
  std::vector<float> bytes_ = {};                                 // for each token, total size of its units
  std::size_t specials_before_ = 0;
};

// How strongly each token of a translation depends on each source unit.
struct Alignment {
  std::vector<std::size_t> ends = {};  // for each token, where its text ends in the translation
  std::size_t units = 0;
  std::vector<float> weights = {};  // [tokens, units]

  std::span<const float> row(std::size_t token) const { return std::span(weights).subspan(token * units, units); }
};

// Returns the alignment of a hypothesis with its source; empty if the hypothesis has no tokens or no attention.
// REQUIRES: the attention was selected by alignment_selection().
Alignment align(const Model& model, const SourceUnits& source, const Hypothesis& hypothesis);

// Returns the alignment of a translation through an intermediate text: p(source unit | token) :=
// sum over middle units m of p(m | token) * p(source unit | bytes of m). `middle` has the units of
// the part of the intermediate text that begins at byte `begin`.
Alignment compose(const Alignment& first, std::size_t begin, const SourceUnits& middle, const Alignment& second);

// Returns the weight of each unit for the tokens with bytes in [begin, end). The weights sum to 1, or all are 0.
std::vector<float> weights_of(const Alignment& alignment, std::size_t begin, std::size_t end);

// Splits a translation into units, and aligns each with the source word that has the highest sum
// of:
// - its weight for the unit's tokens, from 0 to 1, minus its mean over all units,
// - 0.3 if both have the same letters,
// - up to 0.1 for the same position in the word order, 0 from a distance of 10 words on,
// - -1 if only one of them is a punctuation mark or a symbol.
// Letters and order help models with poor attention. A mark is not aligned if the source has no
// marks. If the source word is divided into units, an equal word is divided at the same characters;
// any other word belongs to the unit with the most weight.
std::vector<AlignedWord> align_words(const Alignment& alignment, std::string_view text, std::string_view source,
                                     std::span<const TextUnit> source_units);

}  // namespace encdec
