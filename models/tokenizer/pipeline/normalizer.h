#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/tokenizer/pipeline/normalization_table.h"
#include "encdec/models/tokenizer/pipeline/pattern.h"
#include "encdec/models/tokenizer/pipeline/pipeline_text.h"

namespace encdec {

// Rewrites a text before it is cut into words. Read-only: usable from many threads at once.
class Normalizer {
 public:
  virtual ~Normalizer() = default;

  // `text.text` is UTF-8, before and after. Throws TokenizerError if the new text has more than kMaxRewrittenBytes, or
  // a pattern takes too many steps.
  virtual void normalize(PipelineText& text) const = 0;
};

// The kinds that tokenizer.json knows, by their names there. Each is what Hugging Face's tokenizers 0.23 does.
namespace normalizers {

using NormalizerPtr = std::unique_ptr<const Normalizer>;

// One after another.
NormalizerPtr sequence(std::vector<NormalizerPtr> parts);

NormalizerPtr nfc();
NormalizerPtr nfd();
NormalizerPtr nfkc();
NormalizerPtr nfkd();
// Full lowercase of each character by itself: 'İ' becomes two characters, 'Σ' becomes 'σ' everywhere.
NormalizerPtr lowercase();
// Leaves out combining marks (categories Mn, Mc, Me).
NormalizerPtr strip_accents();
// sentencepiece's rules for control characters and spaces.
NormalizerPtr nmt();

struct StripSides {
  bool left = true;
  bool right = true;
};
// Leaves out whitespace at the ends.
NormalizerPtr strip(StripSides sides);
// Puts a text in front, unless the text is empty.
NormalizerPtr prepend(std::string text);
// Every match becomes `content`.
NormalizerPtr replace(Pattern pattern, std::string content);
// Each byte becomes the character that stands for it in byte-level vocabularies.
NormalizerPtr byte_level();

struct BertOptions {
  bool clean_text = true;                  // no control characters, every whitespace is a space
  bool split_chinese = true;               // spaces around Chinese characters
  std::optional<bool> strip_accents = {};  // absent: as `lowercase`
  bool lowercase = true;
};
NormalizerPtr bert(BertOptions options);

// sentencepiece's table as tokenizers applies it: to grapheme clusters of less than 6 bytes, else to characters.
NormalizerPtr precompiled(NormalizationTable table);

}  // namespace normalizers
}  // namespace encdec
