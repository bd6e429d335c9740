#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/tokenizer/pipeline/byte_trie.h"
#include "encdec/models/tokenizer/sentencepiece_normalizer.h"
#include "encdec/models/tokenizer/sentencepiece_proto.h"

namespace encdec {

// Cuts texts into the pieces of a unigram model as sentencepiece 0.2 does, to the last bit of the scores: the best of
// several ways with the same pieces ("0" "00" and "00" "0") is a matter of rounding. libsentencepiece 0.1.97 adds them
// up in another precision, and would choose another way in one of a hundred texts with long numbers.
class SentencePieceUnigram {
 public:
  explicit SentencePieceUnigram(const SentencePieceProto& proto);

  // Unknown characters in a row are one piece, which is their text; with byte_fallback, a piece for each of their
  // bytes.
  std::vector<std::string> encode(std::string_view valid) const;

 private:
  SentencePieceNormalizer normalizer_;
  ByteTrie trie_;  // ids
  std::vector<SentencePieceProto::Piece> pieces_;
  bool byte_fallback_;
  float unknown_score_;
};

}  // namespace encdec
