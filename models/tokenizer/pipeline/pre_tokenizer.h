#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "encdec/models/tokenizer/pipeline/pattern.h"
#include "encdec/models/tokenizer/pipeline/pipeline_text.h"

namespace encdec {

// Cuts a normalised text into words, each of which a model makes into pieces by itself. Read-only: usable from many
// threads at once.
class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;

  // Adds the words of `text`, none empty, to `words`. Throws TokenizerError if a pattern takes too many steps.
  virtual void split(PipelineText text, std::vector<PipelineText>& words) const = 0;
};

// The kinds that tokenizer.json knows, by their names there. Each is what Hugging Face's tokenizers 0.23 does.
namespace pre_tokenizers {

using PreTokenizerPtr = std::unique_ptr<const PreTokenizer>;

// One after another, each on the words of the one before.
PreTokenizerPtr sequence(std::vector<PreTokenizerPtr> parts);

// At whitespace, which is left out.
PreTokenizerPtr whitespace_split();
// The matches of \w+|[^\w\s]+.
PreTokenizerPtr whitespace();
// At whitespace, which is left out; every punctuation character is a word.
PreTokenizerPtr bert();

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
PreTokenizerPtr metaspace(MetaspaceOptions options);

struct ByteLevelOptions {
  bool add_prefix_space = true;
  bool use_regex = true;  // GPT-2's pattern cuts words
};
// Each byte becomes the character that stands for it in byte-level vocabularies.
PreTokenizerPtr byte_level(ByteLevelOptions options);

// What becomes of the matches that a text is cut at.
enum class SplitBehavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };
struct SplitOptions {
  SplitBehavior behavior = SplitBehavior::isolated;
  bool invert = false;  // what lies between matches counts as a match, and the other way round
};
PreTokenizerPtr split(Pattern pattern, SplitOptions options);
PreTokenizerPtr punctuation(SplitBehavior behavior);

struct DigitsOptions {
  bool individual = false;
};
// Between numbers and other characters.
PreTokenizerPtr digits(DigitsOptions options);
// At one character, which is left out.
PreTokenizerPtr char_delimiter_split(const std::string& delimiter);
// After every `length` characters, `length` > 0.
PreTokenizerPtr fixed_length(std::size_t length);

}  // namespace pre_tokenizers
}  // namespace encdec
