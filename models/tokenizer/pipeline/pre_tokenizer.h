#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "encdec/models/tokenizer/pipeline/pattern.h"
#include "encdec/models/tokenizer/pipeline/pipeline_text.h"

namespace encdec {

// Takes words one after another: a text may have as many as bytes, so nobody keeps all of them.
using WordSink = std::function<void(PipelineText&& word)>;

// Cuts a normalised text into words, each of which a model makes into pieces by itself: gives them, none empty, to
// `take`, in order. Throws TokenizerError if a pattern takes too many steps. May be used from many threads at once.
using PreTokenizer = std::function<void(PipelineText&& text, const WordSink& take)>;

// The kinds that tokenizer.json knows, by their names there. Each is what Hugging Face's tokenizers 0.23 does.
namespace pre_tokenizers {

// One after another, each on the words of the one before.
PreTokenizer sequence(std::vector<PreTokenizer> parts);

// At whitespace, which is left out.
PreTokenizer whitespace_split();
// The matches of \w+|[^\w\s]+.
void whitespace(const PipelineText& text, const WordSink& take);
// At whitespace, which is left out; every punctuation character is a word.
PreTokenizer bert();

enum class PrependScheme {
  always,  // in front of every text
  first,   // where the caller's text begins
  never,
};
struct MetaspaceOptions {
  std::string replacement = "▁";  // one character
  PrependScheme prepend = PrependScheme::always;
  bool split = true;
};
// Spaces become the replacement, and words begin with it.
PreTokenizer metaspace(MetaspaceOptions options);

struct ByteLevelOptions {
  bool add_prefix_space = true;
  bool use_regex = true;  // GPT-2's pattern cuts words
};
// Each byte becomes the character that stands for it in byte-level vocabularies.
PreTokenizer byte_level(ByteLevelOptions options);

// What becomes of the matches that a text is cut at.
enum class SplitBehavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };
struct SplitOptions {
  SplitBehavior behavior = SplitBehavior::isolated;
  bool invert = false;  // what lies between matches counts as a match, and the other way round
};
PreTokenizer split(Pattern pattern, SplitOptions options);
PreTokenizer punctuation(SplitBehavior behavior);

struct DigitsOptions {
  bool individual = false;
};
// Between numbers and other characters.
PreTokenizer digits(DigitsOptions options);
// At one character, which is left out.
PreTokenizer char_delimiter_split(const std::string& delimiter);
// After every `length` characters, `length` > 0.
PreTokenizer fixed_length(std::size_t length);

}  // namespace pre_tokenizers
}  // namespace encdec
