#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/tokenizer/pipeline/byte_trie.h"
#include "encdec/models/tokenizer/sentencepiece_proto.h"

namespace encdec {

// sentencepiece's own normalisation of texts: at each place the longest match of its table is replaced; then spaces at
// the ends and in a row go, one comes in front, and all are written "▁", each as far as the model says so. User-defined
// pieces stay as they are.
class SentencePieceNormalizer {
 public:
  // The table is one that check_sentencepiece_model has passed.
  explicit SentencePieceNormalizer(const SentencePieceProto& proto);

  // Throws TokenizerError if the result has more than kMaxRewrittenBytes.
  std::string normalize(std::string_view valid) const;

 private:
  struct Step {
    std::string_view result;
    std::size_t bytes;  // of the text that it stands for
  };
  Step next(std::string_view text) const;
  // Bytes of the longest user-defined piece that `text` begins with.
  std::size_t user_defined(std::string_view text) const;

  std::vector<std::uint32_t> units_;  // of the table's trie
  std::string replacements_;
  ByteTrie user_defined_;
  bool add_dummy_prefix_;
  bool remove_extra_spaces_;
  bool space_is_suffix_;
  std::string space_;
};

}  // namespace encdec
