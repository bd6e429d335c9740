#pragma once

#include <functional>

#include "encdec/models/generation/batch_limits.h"
#include "encdec/models/generation/decode_feed.h"

namespace encdec {

// What one worker decodes with.
struct BatchWork {
  Session& session;  // is reset
  const BatchLimits& limits;
  // After each step: what this worker has done, and the sequences of this step; none if empty.
  std::function<void(const GenerateProgress& done, std::size_t rows)> on_step = {};
};

// Decodes what a feed gives, many sources at once, until it has no more or has stopped. A source that is finished or
// cancelled leaves the batch at once, and waiting ones take its place; their rows are packed, so lengths need not
// agree. What fails for one source alone is told to its client; where all fail, all clients are told, and it ends.
void decode_batches(DecodeFeed& feed, const BatchWork& work);

}  // namespace encdec
