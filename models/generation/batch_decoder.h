#pragma once

#include <functional>

#include "encdec/models/generation/batch_limits.h"
#include "encdec/models/generation/decode_feed.h"

namespace encdec {

// The session, limits and callback of one worker.
struct BatchWork {
  Session& session;  // reset before use
  const BatchLimits& limits;
  // Called after each step with the worker's totals and the number of sequences in that step. Not called if empty.
  std::function<void(const GenerateProgress& done, std::size_t sequences)> on_step = {};
};

// Decodes jobs from a feed, many sources per step, until the feed is empty or has stopped.
// - A source that is finished or cancelled leaves the batch at once, and waiting jobs take its place. Rows are packed,
//   so their lengths may differ.
// - A failure of one source is reported to its client only.
// - A failure of a whole step is reported to the client of every source in the batch and then thrown.
void decode_batches(DecodeFeed& feed, const BatchWork& work);

}  // namespace encdec
