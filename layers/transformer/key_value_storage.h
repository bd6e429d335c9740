#pragma once

#include <span>

#include "encdec/layers/transformer/attention_heads.h"

namespace encdec {

// Storage of cross-attention keys and values; see CrossAttentionKeyValues.
struct KeyValueStorage {
  KeyValueStorage(const AttentionOptions& options, Precision precision)
      : rows(key_value_layout_of(options, precision)), is_packed(packs_key_values(options, precision)) {}

  KeyValueLayout rows;
  bool is_packed;

  // Returns a sequence's attention to `key_values` for attend_heads(), without queries and output. A
  // draft model that copies the decoder reads the original's key_values, which may have another type
  // and is then not packed.
  kernels::HeadAttention attention(const Tensor& key_values, const Sequence& sequence) const;
};

// Merges neighbouring sequences with the same source, such as beams, so that they share loads of
// keys and values. The result is valid until the running node is done.
std::span<const Sequence> sequences_with_sources(RunState& state);

}  // namespace encdec
