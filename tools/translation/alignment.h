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

// The units of a source, and the tokens that they have.
class SourceUnits {
 public:
  // `languages` are those with which the source is translated. Units are divided at `cuts`, in ascending order.
  SourceUnits(const Tokenizer& tokenizer, const std::string& text, const EncodeOptions& languages,
              std::span<const std::size_t> cuts = {});

  const std::vector<TextUnit>& units() const { return units_; }
  // Returns the number of special tokens before the text.
  std::size_t specials_before() const { return specials_before_; }
  // Adds the weights of tokens to the weights of units. A token of several units is shared by size.
  void add(std::span<const float> tokens, std::span<float> units) const;

 private:
  std::vector<TextUnit> units_;
  std::vector<std::pair<std::size_t, std::size_t>> tokens_ = {};  // the first and the end token of each unit
  std::vector<float> bytes_ = {};                                 // for each token, the size of the units that have it
  std::size_t specials_before_ = 0;
};

// How strongly each token of a translation depends on each unit of its source.
struct Alignment {
  std::vector<std::size_t> ends = {};  // for each token, the position in the translation where its text ends
  std::size_t units = 0;
  std::vector<float> weights = {};  // [tokens, units]

  std::span<const float> row(std::size_t token) const { return std::span(weights).subspan(token * units, units); }
};

// Returns the alignment of a hypothesis with its source. It has no tokens if the hypothesis has none.
// REQUIRES: it has the attention of alignment_selection().
Alignment align(const Model& model, const SourceUnits& source, const Hypothesis& hypothesis);

// Returns the alignment of a translation in two steps: p(source unit | target token) := the sum over the units of the
// text between the steps of p(its unit | target token) * p(source unit | its bytes). `middle` is a part of that text,
// which begins at its byte `begin`.
Alignment compose(const Alignment& first, std::size_t begin, const SourceUnits& middle, const Alignment& second);

// Returns the weights of the tokens that have bytes from `begin` to before `end`, by unit. Their sum is 1, or 0.
std::vector<float> weights_of(const Alignment& alignment, std::size_t begin, std::size_t end);

// Splits a translation into its units, and aligns each with a word of the source: the one with the largest sum of
// - its weight for the tokens of the unit, from 0 to 1, minus its mean over all units,
// - 0.3 if both have the same letters,
// - 0.1 if both have the same place in the order of words, less for each word of distance,
// - -1 if one of them is a punctuation mark or a symbol, and the other is not.
// Copies and order help models with poor attention. A mark is aligned with no unit if the source has no marks. A word
// of the source that is divided into units divides a copy of it at the same characters; another translation belongs to
// the unit with most weight.
std::vector<AlignedWord> align_words(const Alignment& alignment, std::string_view text, std::string_view source,
                                     std::span<const TextUnit> source_units);

}  // namespace encdec
