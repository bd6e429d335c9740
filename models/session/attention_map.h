#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "encdec/engine/base/tensor.h"
#include "encdec/models/session/token_ids.h"

namespace encdec {

// The attentions of figure 1 (Vaswani et al. 2017).
enum class AttentionKind : std::uint8_t {
  encoder_self,  // of source tokens to each other
  decoder_self,  // of target tokens to those before them
  cross,         // of target tokens to the source
};

inline std::string_view to_string(AttentionKind kind) {
  constexpr std::string_view kNames[] = {"encoder self-attention", "decoder self-attention", "cross-attention"};
  return kNames[static_cast<std::size_t>(kind)];
}

// Which of several layers, or heads: each for itself, the mean of all, or one.
struct AttentionChoice {
  // Which of them.
  enum class Of : std::uint8_t { each, mean, one };

  Of of = Of::each;  // which of them
  int number = 0;    // of the one: from 0, or negative from the end

  // The one's number from 0, of so many; perhaps not one of them.
  int number_of(int count) const { return number < 0 ? count + number : number; }
};

// Which maps are wanted.
struct AttentionSelection {
  std::vector<AttentionKind> kinds = {};  // empty: all that the model has
  AttentionChoice layers = {};            // of the stack
  AttentionChoice heads = {};             // of a layer
};

// How each query of one kind of attention divides its attention among the keys.
struct AttentionMap {
  AttentionKind kind = AttentionKind::cross;  // whose queries and keys
  Tensor weights;  // float32 [layers, heads, queries, keys]; 1 layer where their mean or one of them is asked for, and
                   // likewise 1 head. Rows add up to 1; keys that a query does not see have 0.
};

// Attention maps of one source and target, and the tokens that their rows and columns stand for.
struct AttentionMaps {
  TokenIds source = {};  // what the encoder reads; empty in a decoder-only model
  TokenIds decoder_input =
      {};                // what the decoder reads: start token or prompt, and target; empty in an encoder-only model
  TokenIds target = {};  // by row of the decoder's attention: the token that it led to
  std::vector<AttentionMap> maps = {};  // one for each kind
};

}  // namespace encdec
