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

// A function that rewrites a text before it is cut into words. `text.text` is UTF-8, before and after. Throws
// TokenizerError if the new text has more than kMaxRewrittenBytes, or a pattern exceeds its step limit. Thread-safe.
using Normalizer = std::function<void(PipelineText& text)>;

// The normalizers of tokenizer.json, under their names there. Each equals that of Hugging Face's tokenizers 0.23.
namespace normalizers {

// Applies `parts` in order.
Normalizer sequence(std::vector<Normalizer> parts);

Normalizer normal(NormalForm form);
// Lowercases each character by itself: 'İ' becomes two characters, 'Σ' becomes 'σ' also at the end of a word.
void lowercase(PipelineText& text);
// Removes combining marks (categories Mn, Mc, Me).
void strip_accents(PipelineText& text);
// Applies sentencepiece's nmt rules: removes control characters, and replaces other kinds of spaces by ' '.
void nmt(PipelineText& text);
// Replaces each byte by its character in byte-level vocabularies, see byte_character().
void byte_level(PipelineText& text);

struct StripSides {
  bool left = true;
  bool right = true;
};
// Removes whitespace at the ends.
Normalizer strip(StripSides sides);
// Puts `text` in front of every text that is not empty.
Normalizer prepend(std::string text);
// Replaces every match by `content`.
Normalizer replace(Pattern pattern, std::string content);

struct BertOptions {
  bool clean_text = true;                  // remove control characters, replace each whitespace character by a space
  bool split_chinese = true;               // put spaces around Chinese characters
  std::optional<bool> strip_accents = {};  // default: the value of `lowercase`
  bool lowercase = true;
};
Normalizer bert(BertOptions options);

// Applies sentencepiece's table as tokenizers does: to a whole grapheme cluster if it has fewer than 6 bytes and the
// table has a match for it, else to each of its characters.
Normalizer precompiled(NormalizationTable table);

}  // namespace normalizers
}  // namespace encdec
