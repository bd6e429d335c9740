#pragma once

#include <cstddef>

#include "encdec/models/generation/search.h"
#include "encdec/models/network/transformer.h"

namespace encdec {

// Upper bounds of a worker's batch. They change speed and memory, never results. A single source is always accepted,
// even if it exceeds them.
struct BatchLimits {
  std::size_t rows = 1;            // sequences in a step; each beam or sample counts
  std::size_t bytes = 0;           // keys and values of all running sources
  std::size_t tokens_at_once = 0;  // tokens of the jobs that start together: sources and prompts
  // Guesses are made while at most `guessing_rows` sequences are decoded together, and up to `checked_rows` rows of a
  // step. With more of either they would cost more time than they save.
  std::size_t guessing_rows = 0;
  std::size_t checked_rows = 0;
};

// Returns the number of rows of logits that fit into 32 MiB of last-level cache, at least 8.
std::size_t logits_rows(const TransformerConfig& config);

// Returns the limits of one of `workers` equal workers. If `rows` is 0, chooses enough rows to keep the CPU busy. All
// workers together get a quarter of the free memory.
BatchLimits choose_batch_limits(const Transformer& model, std::size_t rows, int workers);

// Throws ConfigError unless both are in range: batch_size 0 to 1,000,000 (0: chosen automatically), workers 1 to 1024.
void check_batching(int batch_size, int workers);

// Estimates the bytes of keys and values that decoding a prompt will take. Assumes 2 * (source tokens) + 32 new tokens,
// within the limits of `rules`.
std::size_t expected_bytes(const Transformer& model, const SearchRules& rules, const Prompt& prompt);

}  // namespace encdec
