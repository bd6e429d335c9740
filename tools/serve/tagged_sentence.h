#pragma once

#include <encdec/models/model.h>

#include <span>
#include <string>

#include "serve/text/html.h"

namespace encdec::serve {

// Where a sentence stands in a text, and the tags within it.
struct TaggedSentence {
  std::size_t begin = 0;
  std::span<const InlineTag> tags;
  std::size_t first_tag = 0;  // the number of the first of these
};

// What a result must have that write_tags() finds words, and that an alignment is made of: the mean of the heads of the
// last layer, of cross-attention where the model has any.
AttentionSelection alignment_selection(const Model& model);

// Makes HTML of the texts of a result: each tag stands by the words for what it stood by in the source, as the
// attention tells, which is given up then. `options` are those of the result.
void write_tags(const Model& model, const std::string& source, const TaggedSentence& sentence,
                const GenerateOptions& options, bool is_spaceless, GenerateResult& result);

}  // namespace encdec::serve
