#pragma once

#include <cstdint>
#include <vector>

#include "encdec/models/network/transformer.h"

namespace encdec {

// The only tokens that may be produced, and an output projection that computes nothing else: with a thousand of 32,000
// tokens the largest matmul of a decoding step is all but gone. Read-only, shared by all sessions.
class VocabularyShortlist {
 public:
  // Tokens in any order, at least one, all of the decoder's vocabulary.
  VocabularyShortlist(const Transformer& model, std::vector<std::int32_t> tokens);

  // Hidden states [R, D] -> logits of the tokens [R, number of tokens].
  const Executor& output() const { return output_; }
  // logits [R, number of tokens] -> `all` [R, V]: -infinity for tokens that are not here.
  void spread(const Tensor& logits, Tensor& all) const;

 private:
  std::vector<std::int32_t> tokens_;  // ascending
  Executor output_;
};

}  // namespace encdec
