#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "encdec/models/tokenizer/pipeline/pattern.h"
#include "encdec/models/tokenizer/pipeline/pipeline_text.h"

namespace encdec {

// A callback that receives words in order, one per call. There is no list of all words, because it could be many times
// larger than the text.
using WordSink = std::function<void(PipelineText&& word)>;

// A function that cuts a normalised text into words and calls `take` with each word, in order. No word is empty. The
// model then cuts each word into pieces. Throws TokenizerError if a pattern exceeds its step limit. Thread-safe.
using PreTokenizer = std::function<void(PipelineText&& text, const WordSink& take)>;

// The pre-tokenizers of tokenizer.json, under their names there. Each equals that of Hugging Face's tokenizers 0.23.
namespace pre_tokenizers {

// Applies the first part to the text, and each later part to the words of the part before it.
PreTokenizer sequence(std::vector<PreTokenizer> parts);

// Cuts at whitespace and removes it.
PreTokenizer whitespace_split();
// Takes the matches of \w+|[^\w\s]+ as words.
void whitespace(const PipelineText& text, const WordSink& take);
// Cuts at whitespace and removes it; makes every punctuation character a word.
PreTokenizer bert();

enum class PrependScheme {
  always,  // put the replacement in front of every text
  first,   // only in front of a text that begins where the caller's text begins
  never,
};
struct MetaspaceOptions {
  std::string replacement = "▁";  // one character
  PrependScheme prepend = PrependScheme::always;
  bool split = true;
};
// Replaces spaces by the replacement. If `split` is set, cuts before each replacement.
PreTokenizer metaspace(MetaspaceOptions options);

struct ByteLevelOptions {
  bool add_prefix_space = true;
  bool use_regex = true;  // cut words with GPT-2's pattern
};
// Replaces each byte by its character in byte-level vocabularies, see byte_character().
PreTokenizer byte_level(ByteLevelOptions options);

// The handling of the matches at which a text is cut.
enum class SplitBehavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };
struct SplitOptions {
  SplitBehavior behavior = SplitBehavior::isolated;
  bool invert = false;  // swap matches and the text between matches
};
PreTokenizer split(Pattern pattern, SplitOptions options);
PreTokenizer punctuation(SplitBehavior behavior);

// Cuts between numbers and other characters: SplitBehavior::isolated makes each digit a word, contiguous each number.
PreTokenizer digits(SplitBehavior behavior);
// Cuts at one character and removes it.
PreTokenizer char_delimiter_split(const std::string& delimiter);
// Cuts after every `length` characters.
// REQUIRES: length > 0.
PreTokenizer fixed_length(std::size_t length);

}  // namespace pre_tokenizers
}  // namespace encdec
