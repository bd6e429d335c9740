#pragma once

#include <cstdint>
#include <vector>

#include "encdec/engine/base/shape.h"
#include "encdec/models/checkpoint/mapped_file.h"
#include "encdec/models/session/token_ids.h"

namespace encdec {

// Maps each source token to the target tokens that often translate it, so that a student model
// computes the logits of a few hundred tokens instead of 32,000. Reads Marian's binary format
// (marian-dev, src/data/shortlist.cpp), such as lex.50.50.ende.s2t.bin. Read-only and thread-safe.
class LexicalShortlist {
 public:
  struct Sizes {
    Dim source = 0;          // size of the source vocabulary
    Dim target = 0;          // size of the target vocabulary
    bool is_shared = false;  // both sides have the same vocabulary
  };
  // Throws FileError, which names the file, if the file is damaged or does not fit the vocabularies.
  LexicalShortlist(const FileBytes& file, const Sizes& sizes);

  // Returns the tokens that may be generated for a source, ascending: the most frequent target
  // tokens, the translations of the source tokens and, if the vocabulary is shared, the source
  // tokens themselves. Then adds the lowest other ids, until the number of tokens is a multiple of 8. Marian uses the
  // union over all sources of a batch instead; here, a result does not depend on other sources.
  TokenIds tokens_for(const TokenIds& source) const;

 private:
  Sizes sizes_;
  std::size_t frequent_ = 0;          // ids below this number are always allowed
  std::vector<std::size_t> offsets_;  // token i has translations_[offsets_[i], offsets_[i + 1])
  std::vector<std::int32_t> translations_;
};

}  // namespace encdec
