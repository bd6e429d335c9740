#pragma once

#include <string>
#include <string_view>

#include "encdec/models/tokenizer/pipeline/byte_trie.h"
#include "encdec/models/tokenizer/sentencepiece/sentencepiece_proto.h"

namespace encdec {

// sentencepiece's own normalisation of texts: at each place the longest match of its table is replaced; then spaces at
// the ends and in a row go, one comes in front, and all are written "▁", each as far as the model says so. User-defined
// pieces stay as they are.
class SentencePieceNormalizer {
 public:
  SentencePieceNormalizer(SentencePieceProto::Normalization rules, ByteTrie user_defined);

  // Throws TokenizerError if the result has more than kMaxRewrittenBytes.
  std::string normalize(std::string_view valid) const;

  const SentencePieceProto::Normalization& rules() const { return rules_; }
  const ByteTrie& user_defined() const { return user_defined_; }

 private:
  struct Step {
    std::string_view result;
    std::size_t bytes;  // of the text that it stands for
  };
  Step next(std::string_view text) const;

  SentencePieceProto::Normalization rules_;
  ByteTrie user_defined_;
  std::string space_;
};

}  // namespace encdec
