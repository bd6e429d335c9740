#pragma once

#include <cstdint>
#include <vector>

#include "encdec/engine/base/shape.h"
#include "encdec/models/checkpoint/mapped_file.h"
#include "encdec/models/session/token_ids.h"

namespace encdec {

// For each source token, the target tokens that often translate it. With it a student computes the logits of a few
// hundred tokens instead of 32,000. The format is that of marian-dev, src/data/shortlist.cpp: lex.50.50.ende.s2t.bin.
// Read-only; threads share it.
class LexicalShortlist {
 public:
  struct Sizes {
    Dim source = 0;          // number of tokens in the source's vocabulary
    Dim target = 0;          // the same of the target's
    bool is_shared = false;  // both sides have the same vocabulary
  };
  // Reads the content of a file. Throws FileError, naming it, if it is damaged or does not fit the vocabularies.
  LexicalShortlist(const FileBytes& file, const Sizes& sizes);

  // Returns the tokens that a source may generate: the most frequent tokens of the target, the translations of the
  // source's tokens, and the source's own tokens if the vocabulary is shared. The lowest other tokens round the number
  // up to a multiple of 8. Marian unites the tokens of all sources in a batch; here a source's result does not depend
  // on others.
  TokenIds tokens_for(const TokenIds& source) const;

 private:
  Sizes sizes_;
  std::size_t frequent_ = 0;          // tokens below this are always allowed
  std::vector<std::size_t> offsets_;  // the translations of token i are translations_[offsets_[i], offsets_[i + 1])
  std::vector<std::int32_t> translations_;
};

}  // namespace encdec
