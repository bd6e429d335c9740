#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/tokenizer/pipeline/characters.h"
#include "encdec/models/tokenizer/pipeline/normalization_table.h"
#include "encdec/models/tokenizer/pipeline/pattern.h"
#include "encdec/models/tokenizer/pipeline/pipeline_text.h"

namespace encdec {

// Rewrites a text before it is cut into words. `text.text` is UTF-8, before and after. Throws TokenizerError if the new
// text has more than kMaxRewrittenBytes, or a pattern takes too many steps. May be used from many threads at once.
using Normalizer = std::function<void(PipelineText& text)>;

// The kinds that tokenizer.json knows, by their names there. Each is what Hugging Face's tokenizers 0.23 does.
namespace normalizers {

// One after another.
Normalizer sequence(std::vector<Normalizer> parts);

Normalizer normal(NormalForm form);
// Full lowercase of each character by itself: 'İ' becomes two characters, 'Σ' becomes 'σ' everywhere.
void lowercase(PipelineText& text);
// Leaves out combining marks (categories Mn, Mc, Me).
void strip_accents(PipelineText& text);
// sentencepiece's rules for control characters and spaces.
void nmt(PipelineText& text);
// Each byte becomes the character that stands for it in byte-level vocabularies.
void byte_level(PipelineText& text);

struct StripSides {
  bool left = true;
  bool right = true;
};
// Leaves out whitespace at the ends.
Normalizer strip(StripSides sides);
// Puts a text in front, unless the text is empty.
Normalizer prepend(std::string text);
// Every match becomes `content`.
Normalizer replace(Pattern pattern, std::string content);

struct BertOptions {
  bool clean_text = true;                  // no control characters, every whitespace is a space
  bool split_chinese = true;               // spaces around Chinese characters
  std::optional<bool> strip_accents = {};  // absent: as `lowercase`
  bool lowercase = true;
};
Normalizer bert(BertOptions options);

// sentencepiece's table as tokenizers applies it: to grapheme clusters of less than 6 bytes, else to characters.
Normalizer precompiled(NormalizationTable table);

}  // namespace normalizers
}  // namespace encdec
