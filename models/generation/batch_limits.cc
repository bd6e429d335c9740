#include "encdec/models/generation/batch_limits.h"

#include <algorithm>

#include "encdec/engine/backend/onednn.h"
#include "encdec/engine/base/machine.h"
#include "encdec/engine/base/refuse.h"
#include "encdec/models/generation/generation_settings.h"

namespace encdec {
namespace {

// Default limit of the rows in a step, summed over the workers. Matmuls reach full speed with fewer rows.
constexpr std::size_t kBusyRows = 128;
// Minimum of each worker's default limit. Steps of this size are almost as fast as steps of kBusyRows rows, and take
// half the memory.
constexpr std::size_t kBusyRowsOfWorker = 64;
// Maximum size of a step's logits in bytes. Logits of this size stay in the last-level cache.
constexpr std::size_t kLogitsBytes = std::size_t{32} << 20;
constexpr std::size_t kMinRows = 8;
constexpr std::size_t kTokensAtOnce = 4096;
// Number of rows that a step computes in little more time than one row, without and with AMX tiles. Up to this number,
// reading the weights takes most of the time. With more rows a step is compute-bound, and rejected draft tokens cost
// time.
// Transformer-base, milliseconds per row:
//   rows                1     8    16    32
//   float32, Zen 4    5.4   1.3   1.2   1.2
//   int8, Zen 4      1.07  0.39  0.40  0.39
//   bfloat16, AMX     3.4  0.61  0.42  0.37
//   int8, AMX         1.6  0.35  0.25  0.21
constexpr std::size_t kCheckedRows = 8, kCheckedRowsOfTiles = 24;
// Maximum number of sequences in a batch that uses draft tokens: in float32, in lower precisions, and with AMX tiles.
// On a Zen 4 in bfloat16, four sequences with one draft token each are 20 % slower than four without draft tokens.
constexpr std::size_t kDraftSequences = 4, kDraftSequencesOfLess = 2, kDraftSequencesOfTiles = 6;
// Keys and values may take 1 / kShareOfMemory of the free memory, and twice as much while a cache grows.
constexpr std::size_t kShareOfMemory = 4;
constexpr int kMaxWorkers = 1024;

// Returns the size in bytes of the keys and values that one source or target token has in all layers.
std::size_t bytes_per_token(const Transformer& model) {
  return model.key_value_form().bytes() * static_cast<std::size_t>(model.config.decoder.layers);
}

}  // namespace

std::size_t logits_rows(const TransformerConfig& config) {
  return std::max(kMinRows, kLogitsBytes / (static_cast<std::size_t>(config.decoder.vocabulary) * sizeof(float)));
}

BatchLimits choose_batch_limits(const Transformer& model, std::size_t rows, int workers) {
  const auto sharing = static_cast<std::size_t>(workers);
  const bool is_float32 = model.weights.pack().precision == Precision::float32;
  const bool uses_tiles = !is_float32 && backend::instruction_sets().amx;
  const std::size_t busy = std::max(kBusyRows / sharing, kBusyRowsOfWorker);
  return {.rows = rows > 0 ? rows : std::min(logits_rows(model.config), busy),
          .bytes = available_memory() / kShareOfMemory / sharing,
          .tokens_at_once = kTokensAtOnce,
          .draft_sequences = uses_tiles   ? kDraftSequencesOfTiles
                             : is_float32 ? kDraftSequences
                                          : kDraftSequencesOfLess,
          .checked_rows = uses_tiles ? kCheckedRowsOfTiles : kCheckedRows};
}

void check_batching(int batch_size, int workers) {
  check_range("batch_size", batch_size, 0, kMaxTokenCount);
  check_range("workers", workers, 1, kMaxWorkers);
}

std::size_t expected_bytes(const Transformer& model, const SearchRules& rules, const Prompt& prompt) {
  const std::size_t limit = rules.new_token_limit(prompt, model.config.decoder);
  // The length of a result seldom exceeds twice the length of its source by much.
  const std::size_t expected = std::min(limit, prompt.source.empty() ? limit : 2 * prompt.source.size() + 32);
  const std::size_t tokens = prompt.source_rows() + prompt.target.size() + expected * rules.rows_per_source();
  return tokens * bytes_per_token(model);
}

}  // namespace encdec
