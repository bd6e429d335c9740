#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "encdec/models/tokenizer/pipeline/characters.h"
#include "encdec/models/tokenizer/pipeline/normalization_table.h"
#include "encdec/models/tokenizer/pipeline/pattern.h"
#include "encdec/models/tokenizer/pipeline/pipeline_text.h"

namespace encdec {

// A function that rewrites a text before it is split into words. `text.text` is UTF-8 before and after. Throws
// TokenizerError if the new text has more than kMaxRewrittenBytes, or a pattern exceeds its step limit. Thread-safe.
using Normalizer = std::function<void(PipelineText& text)>;

// The normalizers of tokenizer.json, with the same names and results as in Hugging Face's tokenizers 0.23.
namespace normalizers {

Normalizer sequence(std::vector<Normalizer> parts);

Normalizer normal(NormalForm form);
// Lowercases each character on its own: 'İ' becomes two characters, and 'Σ' becomes 'σ' even at the end of a word.
void lowercase(PipelineText& text);
void strip_accents(PipelineText& text);  // removes combining marks (categories Mn, Mc, Me)
// Applies sentencepiece's nmt rules: removes control characters and replaces other spaces by ' '.
void nmt(PipelineText& text);
void byte_level(PipelineText& text);  // see PipelineText::to_byte_characters()

struct StripSides {
  bool left = true;
  bool right = true;
};
Normalizer strip(StripSides sides);
Normalizer prepend(std::string text);  // skips empty texts
Normalizer replace(Pattern pattern, std::string content);

struct BertOptions {
  bool clean_text = true;                  // remove control characters; replace whitespace by spaces
  bool split_chinese = true;               // put spaces around Chinese characters
  std::optional<bool> strip_accents = {};  // default: the value of `lowercase`
  bool lowercase = true;
};
Normalizer bert(BertOptions options);

// Applies sentencepiece's table: to a grapheme cluster if it has fewer than 6 bytes and matches, else to its
// characters.
Normalizer precompiled(NormalizationTable table);

}  // namespace normalizers
}  // namespace encdec
