#pragma once

#include <span>

#include "encdec/layers/transformer/attention_heads.h"

namespace encdec {

// How keys and values of an encoder output are stored.
struct MemoryForm {
  MemoryForm(const AttentionOptions& options, Precision precision)
      : rows(key_value_form_of(options, precision)), is_packed(packs_memory(options, precision)) {}

  KeyValueForm rows;
  bool is_packed;

  // Returns the attention to the memory of a sequence, as attend_heads() takes it, without queries and output. A draft
  // model that is a copy of the decoder reads its model's memory, which may have another type and is then not packed.
  kernels::HeadAttention attention(const Tensor& memory, const Sequence& sequence) const;
};

// Merges neighbouring sequences that read the same memory, such as the beams of one source. One load of a key or value
// then serves several of them. Valid until the running node is done.
std::span<const Sequence> readers_of_memories(RunState& state);

}  // namespace encdec
