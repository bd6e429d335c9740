#pragma once

#include <encdec/models/model.h>

#include <span>
#include <string>

#include "text/html.h"

namespace encdec::serve {

// A sentence of a text with tags in it.
struct TaggedSentence {
  const std::string& text;
  std::size_t begin = 0;            // in the whole text
  std::span<const InlineTag> tags;  // within it
  std::size_t first_tag = 0;        // the number of the first of these
};

// What a result must have that translated_tags() finds words: cross-attention.
AttentionSelection alignment_selection();

// A translation of the sentence as HTML: each tag stands by the words for what it stood by in the source, as the
// attention of the decoder's last layer tells (the mean of its heads). `options` are those of the result.
std::string translated_tags(const Model& model, const TaggedSentence& sentence, const GenerateOptions& options,
                            const Hypothesis& hypothesis, bool is_spaceless);

}  // namespace encdec::serve
