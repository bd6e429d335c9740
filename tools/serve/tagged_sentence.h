#pragma once

#include <encdec/models/model.h>

#include <span>
#include <string>

#include "serve/text/html.h"

namespace encdec::serve {

// A sentence with tags: its position in the text, and the tags within it.
struct TaggedSentence {
  std::size_t begin = 0;            // position in the text, in bytes
  std::span<const InlineTag> tags;  // a part of HtmlPart::tags
  std::size_t first_tag = 0;        // index in HtmlPart::tags of the first of `tags`
};

// Returns the attention that a result must have for write_tags() and for alignments: the last layer, the mean of its
// heads; cross-attention if the model has any, else self-attention.
AttentionSelection alignment_selection(const Model& model);

// Turns the texts of a result into HTML with the tags of the source sentence. A tag that stands beside a word of the
// source is put beside the translation of this word, which the attention of the result finds. Then clears the
// attention. `source` is the text of the sentence. `options` are those with which the result was generated.
void write_tags(const Model& model, const std::string& source, const TaggedSentence& sentence,
                const GenerateOptions& options, bool is_spaceless, GenerateResult& result);

}  // namespace encdec::serve
