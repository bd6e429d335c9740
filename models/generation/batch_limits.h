#pragma once

#include <cstddef>

#include "encdec/models/generation/search.h"
#include "encdec/models/network/transformer.h"

namespace encdec {

// Upper bounds of a worker's batch, which never affect results. A single source may exceed them.
struct BatchLimits {
  std::size_t rows = 1;            // number of sequences in a step; each beam or sample counts
  std::size_t bytes = 0;           // size of the keys and values of all running sources
  std::size_t tokens_at_once = 0;  // number of source and prompt tokens of the jobs that start together
  // Draft tokens are made while the batch has at most `draft_sequences` sequences. A step that verifies draft tokens
  // has at most `checked_rows` rows. Beyond these limits, drafts cost more time than they save.
  std::size_t draft_sequences = 0;
  std::size_t checked_rows = 0;
};

// Returns the number of rows of logits that fit into 32 MiB, at least 8.
std::size_t logits_rows(const TransformerConfig& config);

// Returns the limits of one worker out of `workers`. If `rows` is 0, chooses enough rows to keep
// the CPU busy. All workers together may use a quarter of the free memory.
BatchLimits choose_batch_limits(const Transformer& model, std::size_t rows, int workers);

// Throws ConfigError unless batch_size is from 0 (automatic) to 1,000,000 and workers is from 1 to 1024.
void check_batching(int batch_size, int workers);

// Estimates the bytes of keys and values that decoding a prompt will take. Assumes
// 2 * (source tokens) + 32 new tokens, within the limits of `rules`.
std::size_t expected_bytes(const Transformer& model, const SearchRules& rules, const Prompt& prompt);

}  // namespace encdec
