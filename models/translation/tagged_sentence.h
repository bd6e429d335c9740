#pragma once

#include <span>
#include <string>
#include <vector>

#include "encdec/models/model.h"
#include "encdec/models/translation/text/inline_codes.h"
#include "encdec/models/translation/text/segment.h"

namespace encdec {

// A sentence with codes: its position in the text, and the codes within it.
struct TaggedSentence {
  std::size_t begin = 0;              // position in the text, in bytes
  std::span<const InlineCode> codes;  // a part of Segment::codes
  std::size_t first_code = 0;         // index in Segment::codes of the first of `codes`
};

// Returns the attention that a result must have for place_codes() and for alignments: the last layer, the mean of its
// heads; cross-attention if the model has any, else self-attention.
AttentionSelection alignment_selection(const Model& model);

// Places the codes of a source sentence in each hypothesis of its result. A code that stands beside a word of the
// source is put beside the translation of this word, which the attention of the result finds. Then clears the
// attention. `source` is the text of the sentence. `options` are those with which the result was generated.
std::vector<std::vector<PlacedCode>> place_codes(const Model& model, const std::string& source,
                                                 const TaggedSentence& sentence, const GenerateOptions& options,
                                                 bool is_spaceless, GenerateResult& result);

}  // namespace encdec
