#pragma once

#include <functional>

#include "encdec/models/generation/batch_limits.h"
#include "encdec/models/generation/decode_feed.h"

namespace encdec {

// The session, limits and callback of one worker.
struct BatchWork {
  Session& session;  // reset before use
  const BatchLimits& limits;
  // Called after each step with the worker's totals and the step's number of sequences. Optional.
  std::function<void(const GenerateProgress& done, std::size_t sequences)> on_step = {};
};

// Decodes jobs from a feed, many sources per step, until the feed is empty or has stopped.
// - A finished or cancelled source leaves the batch at once, and waiting jobs replace it. Rows are
//   packed, so sources may differ in length.
// - If one source fails, only its client gets the error.
// - If a whole step fails, all clients of the batch get the error, and it is thrown.
void decode_batches(DecodeFeed& feed, const BatchWork& work);

}  // namespace encdec
