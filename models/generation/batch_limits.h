#pragma once

#include <cstddef>

#include "encdec/models/generation/search.h"
#include "encdec/models/network/transformer.h"

namespace encdec {

// How much is decoded together. Results do not depend on it, speed and memory do.
struct BatchLimits {
  // Every limit holds but for a single source, which is always taken.
  std::size_t rows = 1;            // sequences of a step, beams and samples counted one by one
  std::size_t bytes = 0;           // of keys and values of all that is being decoded
  std::size_t tokens_at_once = 0;  // that are encoded together, or read as prompts
};

// Rows of logits that a step may compute, so that they fit the last-level cache.
std::size_t logits_rows(const TransformerConfig& config);

// So many rows or, where that is 0, as many as keep the CPU busy; of each worker's part of the memory.
BatchLimits choose_batch_limits(const Transformer& model, std::size_t rows, int workers);

// Throws ConfigError unless batch_size, the number of sources decoded together, is 0 (as many as fit) or more, and
// workers is from 1 to 1024.
void check_batching(int batch_size, int workers);

// Bytes of keys and values that decoding a prompt will take, as far as can be foreseen.
std::size_t expected_bytes(const Transformer& model, const SearchRules& rules, const Prompt& prompt);

}  // namespace encdec
