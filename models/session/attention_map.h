#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "encdec/engine/base/tensor.h"
#include "encdec/models/session/token_ids.h"

namespace encdec {

// Attentions of figure 1 (Vaswani et al. 2017).
enum class AttentionKind : std::uint8_t {
  encoder_self,  // from source tokens to source tokens
  decoder_self,  // from target tokens to themselves and earlier target tokens
  cross,         // from target tokens to source tokens
};

struct AttentionNames {
  AttentionKind kind;
  std::string_view title;  // in messages and pictures
  std::string_view word;   // in options
  std::string_view key;    // in JSON
};
inline constexpr std::array kAttentionKinds = {
    AttentionNames{AttentionKind::encoder_self, "encoder self-attention", "encoder", "encoder_self"},
    AttentionNames{AttentionKind::decoder_self, "decoder self-attention", "decoder", "decoder_self"},
    AttentionNames{AttentionKind::cross, "cross-attention", "cross", "cross"},
};

constexpr const AttentionNames& attention_names(AttentionKind kind) {
  return *std::ranges::find(kAttentionKinds, kind, &AttentionNames::kind);
}

constexpr std::string_view to_string(AttentionKind kind) {
  return attention_names(kind).title;
}

// A choice among several layers, or among several heads.
struct AttentionChoice {
  // Kinds of choice: each of them separately, the mean of all, or one of them.
  enum class Of : std::uint8_t { each, mean, one };

  Of of = Of::each;  // kind of choice
  int number = 0;    // number of the one layer or head, from 0; negative numbers count from the end

  // Returns `number` counted from 0, among `count` layers or heads. The result is out of range if `number` is.
  int number_of(int count) const { return number < 0 ? count + number : number; }
};

// A selection of attention maps.
struct AttentionSelection {
  std::vector<AttentionKind> kinds = {};  // empty means all kinds that the model has
  AttentionChoice layers = {};            // choice of layers
  AttentionChoice heads = {};             // choice of heads in each layer
};

// The weights of one kind of attention: how each query divides its attention among the keys.
struct AttentionMap {
  AttentionKind kind = AttentionKind::cross;  // kind of attention
  // float32 [layers, heads, queries, keys]. The first dimension is 1 if the mean of the layers or one layer is chosen;
  // the same holds for heads. The weights of a query add up to 1, in T5Gemma 2 over decoder self-attention and
  // cross-attention together; keys that the query does not see have 0.
  Tensor weights;
};

// Attention maps of one source and one target, with the tokens of their rows and columns.
struct AttentionMaps {
  TokenIds source = {};  // tokens that the encoder reads; empty in a decoder-only model
  // Tokens that the decoder reads: the start token or prompt, then the target without its last token; empty in an
  // encoder-only model.
  TokenIds decoder_input = {};
  TokenIds target = {};                 // for each row of the decoder's attention, the token that follows it
  std::vector<AttentionMap> maps = {};  // one map for each kind
};

}  // namespace encdec
