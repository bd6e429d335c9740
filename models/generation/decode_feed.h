#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "encdec/models/generation/generate_options.h"
#include "encdec/models/generation/prompter.h"
#include "encdec/models/generation/search.h"

namespace encdec {

struct DecodeJob;

// Who wants to know what becomes of sources. Workers call, perhaps several at once.
class DecodeClient {
 public:
  virtual ~DecodeClient() = default;
  // What a source's search has found.
  virtual void on_result(const DecodeJob& job, std::vector<Hypothesis> hypotheses) = 0;
  // Instead of a result; NotANumber among others.
  virtual void on_failure(const DecodeJob& job, const std::exception_ptr& failure) = 0;
  // Token by token as they become certain; called only if they are wanted.
  virtual void on_tokens(const DecodeJob& job, Search::ScoredTokens tokens) = 0;
  virtual bool wants_tokens() const = 0;  // always the same
  // Its sources that are being decoded are dropped at the next step, without a word.
  virtual bool is_cancelled() const = 0;
};

// A source that waits to be decoded.
struct DecodeJob {
  std::size_t index = 0;  // among those of its client
  Prompt prompt = {};
  std::shared_ptr<const SearchRules> rules = {};  // its own, whatever those beside it have
  std::size_t bytes = 0;                          // see expected_bytes()
  std::shared_ptr<DecodeClient> client = {};

  // Searches for it, in a session that has opened its source; empty for what the rules ask for.
  std::function<std::unique_ptr<Search>(const DecodeJob& job, int source, Session& session)> search = {};

  std::size_t expected_rows = 0;  // of the encoder, where the source is not known before it is read

  // That the model reads at once.
  std::size_t tokens() const { return std::max(prompt.source_rows(), expected_rows) + prompt.target.size(); }
};

// Where workers get sources from. For any number of threads.
class DecodeFeed {
 public:
  virtual ~DecodeFeed() = default;

  // What is free in a worker's batch.
  struct Room {
    std::size_t rows = 0;
    std::size_t bytes = 0;
    std::size_t tokens = 0;
    bool is_idle = false;  // nothing is running in it: then one job always fits

    // Whether a job fits beside those that were taken, the first of an idle worker at any rate; then it is.
    bool take(const DecodeJob& job) {
      const std::size_t rows_of_job = job.rules == nullptr ? 1 : job.rules->rows_per_source();
      const bool fits = rows_of_job <= rows && job.bytes <= bytes && job.tokens() <= tokens;
      if (!fits && !is_idle) return false;
      rows -= std::min(rows, rows_of_job);
      bytes -= std::min(bytes, job.bytes);
      tokens -= std::min(tokens, job.tokens());
      is_idle = false;
      return true;
    }
  };
  // Jobs that fit. None for a worker that is not idle if none is there; for one that is idle if it has nothing to do
  // any more.
  virtual void take(Room room, std::vector<DecodeJob>& jobs) = 0;
  // Work ends at once.
  virtual bool has_stopped() = 0;
};

}  // namespace encdec
