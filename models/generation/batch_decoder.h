#pragma once

#include <functional>
#include <span>
#include <vector>

#include "encdec/models/generation/source_feed.h"

namespace encdec {

// What one worker decodes with, and whom it tells.
struct BatchWork {
  Session& session;  // is reset
  const BatchLimits& limits;
  std::function<void(const DecodeJob& job, std::vector<Hypothesis> results)> on_result = {};
  // Token by token as they become certain; none if empty.
  std::function<void(std::size_t source, std::span<const std::int32_t> tokens)> on_tokens = {};
  // After each step: what this worker has done; none if empty.
  std::function<void(const GenerateProgress& done)> on_step = {};
};

// Decodes what a feed gives, many sources at once, until it has no more or has stopped. A source that is finished
// leaves the batch at once, and waiting ones take its place; their rows are packed, so lengths need not agree.
void decode_batches(SourceFeed& feed, const BatchWork& work);

}  // namespace encdec
