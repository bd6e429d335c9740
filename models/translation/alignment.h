#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "encdec/models/model.h"
#include "encdec/models/translation/text/inline_codes.h"

namespace encdec {

// The units of a source: the tokens of its text, without the special tokens around them. They are numbered from 0.
class SourceUnits {
 public:
  // `options` are those with which the source is translated.
  SourceUnits(const Tokenizer& tokenizer, std::string text, const GenerateOptions& options);

  const std::string& text() const { return text_; }
  std::size_t count() const { return end_ - begin_; }
  // Returns the number of special tokens before the units.
  std::size_t specials_before() const { return begin_; }
  // Returns the unit that contains the byte `place` of the text; count() for the end of the text.
  std::size_t at(std::size_t place) const;
  // Returns the unit of each byte of the text.
  std::vector<std::size_t> of_bytes() const;

 private:
  const Tokenizer& tokenizer_;
  EncodeOptions languages_;
  std::string text_;
  TokenIds ids_;
  std::size_t begin_ = 0, end_ = 0;
};

// How strongly each token of a translation depends on each unit of its source.
struct Alignment {
  std::vector<std::size_t> ends = {};  // for each token, the position in the translation where its text ends
  std::size_t units = 0;
  std::vector<float> weights = {};  // [tokens, units]

  std::span<const float> row(std::size_t token) const { return std::span(weights).subspan(token * units, units); }
};

// Returns the attention that a result must have for align(): the last layer, the mean of its heads or the head that was
// trained to align (TransformerConfig::alignment_head); cross-attention if the model has any, else self-attention.
AttentionSelection alignment_selection(const Model& model);

// Returns the alignment of a hypothesis with its source. It has no tokens if the hypothesis has none.
Alignment align(const Model& model, const SourceUnits& source, const Hypothesis& hypothesis);

// Returns the alignment of a translation in two steps: p(source unit | target token) := the sum over the tokens of the
// text between the steps of p(its unit | target token) * p(source unit | its token). The two models have different
// tokens, so the weight of a unit of the text between is spread evenly over its bytes. `middle` is a part of that text,
// which begins at its byte `begin`.
Alignment compose(const Alignment& first, std::size_t begin, const SourceUnits& middle, const Alignment& second);

// Returns the sums of the weights of the tokens that have bytes from `begin` to before `end`, by unit.
std::vector<float> weights_of(const Alignment& alignment, std::size_t begin, std::size_t end);

// Splits a translation into words: at spaces or, in a language without spaces, at tokens. Aligns each word with the
// unit that has the largest sum of weights over the tokens of the word. Returns no words if there are no units.
std::vector<AlignedWord> words_of(const Alignment& alignment, const std::string& text, bool is_spaceless);

}  // namespace encdec
