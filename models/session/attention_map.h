#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "encdec/engine/base/tensor.h"
#include "encdec/models/session/token_ids.h"

namespace encdec {

// The attentions of figure 1 (Vaswani et al. 2017).
enum class AttentionKind : std::uint8_t {
  encoder_self,  // from source tokens to source tokens
  decoder_self,  // from target tokens to the same and earlier target tokens
  cross,         // from target tokens to source tokens
};

struct AttentionNames {
  AttentionKind kind;
  std::string_view title;  // name in messages and pictures
  std::string_view word;   // name in options
  std::string_view key;    // name in JSON
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

// A choice of layers or of heads.
struct AttentionChoice {
  enum class Of : std::uint8_t { each, mean, one };

  Of of = Of::each;
  int number = 0;  // for Of::one: counted from 0; negative numbers count from the end

  // Returns `number` counted from 0, given the total `count`. Does not check the range.
  int number_of(int count) const { return number < 0 ? count + number : number; }
};

struct AttentionSelection {
  std::vector<AttentionKind> kinds = {};  // empty means all kinds that the model has
  AttentionChoice layers = {};
  AttentionChoice heads = {};  // in each layer
};

// The weights of one kind of attention: how much each query attends to each key.
struct AttentionMap {
  AttentionKind kind = AttentionKind::cross;
  // float32 [layers, heads, queries, keys]; dimensions 0 and 1 are 1 for a mean or a single choice. A query's weights
  // add up to 1 (in T5Gemma 2: over both kinds of decoder attention together).
  Tensor weights;
};

// The attention maps of one source and one target, and the tokens of their rows and columns.
struct AttentionMaps {
  TokenIds source = {};  // tokens that the encoder reads; empty for a decoder-only model
  // Start token or prompt, then the target without its last token; empty for an encoder-only model.
  TokenIds decoder_input = {};
  TokenIds target = {};                 // for each row of decoder attention, the token that follows it
  std::vector<AttentionMap> maps = {};  // one for each kind
};

}  // namespace encdec
