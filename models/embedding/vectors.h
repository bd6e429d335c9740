#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "encdec/engine/base/named_values.h"
#include "encdec/models/session/token_ids.h"

namespace encdec {

// Kinds of vectors that a model may give.
enum class EmbedOutput : std::uint8_t {
  dense,    // one vector [D] of each text
  sparse,   // weights of some tokens of the vocabulary, for each text (Formal et al. 2021)
  tokens,   // the last hidden states of all tokens [tokens, D], special tokens included
  colbert,  // vectors of length 1 of all tokens but the first (Khattab & Zaharia 2020)
};

inline constexpr std::array kEmbedOutputNames = {
    Named{EmbedOutput::dense, "dense"},
    Named{EmbedOutput::sparse, "sparse"},
    Named{EmbedOutput::tokens, "token"},
    Named{EmbedOutput::colbert, "ColBERT"},
};

// The sparse vector of a text.
struct SparseVector {
  TokenIds token_ids;         // ascending
  std::vector<float> values;  // weights of these tokens, not 0
};

// The vector of one text, or the vectors of its tokens.
struct VectorResult {
  EmbedOutput output = EmbedOutput::dense;
  // An embedding [D], scores by label [labels], the weights of `token_ids`, or `rows` vectors one after another.
  std::vector<float> values = {};
  TokenIds token_ids = {};        // the tokens of a sparse vector, ascending
  std::size_t rows = 0;           // number of vectors of tokens
  std::size_t source_tokens = 0;  // number of tokens read, special tokens included
};

}  // namespace encdec
