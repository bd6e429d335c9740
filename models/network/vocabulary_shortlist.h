#pragma once

#include <cstdint>
#include <vector>

#include "encdec/models/network/transformer.h"

namespace encdec {

// Restricts the vocabulary to some tokens. The output projection computes only the logits of these tokens, which are
// bitwise identical to the logits of the full projection. With 1,000 of 32,000 tokens, the largest matmul of a decoding
// step costs almost nothing. Read-only; sessions share it.
class VocabularyShortlist {
 public:
  // Copies the projection's weights for `tokens`, in any order.
  // REQUIRES: there is at least one token, and all are in the decoder's vocabulary.
  VocabularyShortlist(const Transformer& model, std::vector<std::int32_t> tokens);

  // Maps hidden states [R, D] to the logits of the tokens [R, number of tokens].
  const Linear& projection() const { return projection_; }
  // Copies logits [R, number of tokens] to `all` [R, V]. All other tokens get -infinity.
  void spread(const Tensor& logits, Tensor& all) const;

 private:
  std::vector<std::int32_t> tokens_;  // ascending
  Linear projection_;
};

}  // namespace encdec
