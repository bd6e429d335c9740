#pragma once

#include <cstdint>
#include <vector>

#include "encdec/models/network/transformer.h"

namespace encdec {

// A restriction of the vocabulary to some tokens, with an output projection that computes only their logits, with the
// same bits. With 1,000 of 32,000 tokens, the largest matmul of a decoding step costs almost nothing. Read-only;
// sessions share it.
class VocabularyShortlist {
 public:
  // Copies the projection's weights for `tokens`, in any order.
  // REQUIRES: there is at least one token, and all are in the decoder's vocabulary.
  VocabularyShortlist(const Transformer& model, std::vector<std::int32_t> tokens);

  // Returns the projection: hidden states [R, D] -> logits of the tokens [R, number of tokens].
  const Linear& projection() const { return projection_; }
  // Copies logits [R, number of tokens] to `all` [R, V], with -infinity for all other tokens.
  void spread(const Tensor& logits, Tensor& all) const;

 private:
  std::vector<std::int32_t> tokens_;  // ascending
  Linear projection_;
};

}  // namespace encdec
