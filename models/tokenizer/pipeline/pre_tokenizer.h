#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "encdec/models/tokenizer/pipeline/pattern.h"
#include "encdec/models/tokenizer/pipeline/pipeline_text.h"

namespace encdec {

// A callback that receives words in order, one per call. A list of words could be many times larger than the text.
using WordSink = std::function<void(PipelineText&& word)>;

// A function that splits a normalised text into words for the model, and calls `take` with each word, in order. No word
// is empty. Throws TokenizerError if a pattern exceeds its step limit. Thread-safe.
using PreTokenizer = std::function<void(PipelineText&& text, const WordSink& take)>;

// The pre-tokenizers of tokenizer.json, with the same names and results as in Hugging Face's tokenizers 0.23.
namespace pre_tokenizers {

// Applies the first part to the text, and each later part to the words of the previous part.
PreTokenizer sequence(std::vector<PreTokenizer> parts);

PreTokenizer whitespace_split();  // removes the whitespace
// Emits the matches of \w+|[^\w\s]+ as words.
void whitespace(const PipelineText& text, const WordSink& take);
// Splits at whitespace and removes it. Each punctuation character is a word.
PreTokenizer bert();

enum class PrependScheme {
  always,  // prepend the replacement to every text
  first,   // only in front of a text that begins where the caller's text begins
  never,
};
struct MetaspaceOptions {
  std::string replacement = "▁";  // one character
  PrependScheme prepend = PrependScheme::always;
  bool split = true;
};
// Replaces spaces by the replacement. If `split` is set, splits before each replacement.
PreTokenizer metaspace(MetaspaceOptions options);

struct ByteLevelOptions {
  bool add_prefix_space = true;
  bool use_regex = true;  // split into words with GPT-2's pattern
};
PreTokenizer byte_level(ByteLevelOptions options);  // see PipelineText::to_byte_characters()

// How to split a text at a match, as in tokenizers' SplitDelimiterBehavior.
enum class SplitBehavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };
struct SplitOptions {
  SplitBehavior behavior = SplitBehavior::isolated;
  bool invert = false;  // swap matches and the text between matches
};
PreTokenizer split(Pattern pattern, SplitOptions options);
PreTokenizer punctuation(SplitBehavior behavior);

// Splits between numbers and other characters. A word is one digit with `isolated`, a whole number with `contiguous`.
PreTokenizer digits(SplitBehavior behavior);
PreTokenizer char_delimiter_split(const std::string& delimiter);  // removes the delimiter, one character
PreTokenizer fixed_length(std::size_t length);                    // in characters. REQUIRES: length > 0.

}  // namespace pre_tokenizers
}  // namespace encdec
