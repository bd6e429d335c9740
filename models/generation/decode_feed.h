#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "encdec/models/generation/generate_options.h"
#include "encdec/models/generation/prompter.h"
#include "encdec/models/generation/search.h"

namespace encdec {

struct DecodeJob;

// Callbacks for the jobs of one call, called by several workers at the same time.
// Order of calls for a job: on_tokens* (on_result | on_failure)
class DecodeClient {
 public:
  virtual ~DecodeClient() = default;
  virtual void on_result(const DecodeJob& job, std::vector<Hypothesis> hypotheses) = 0;
  // Receives the error that ended a job, such as NotANumber.
  virtual void on_failure(const DecodeJob& job, const std::exception_ptr& failure) = 0;
  // Receives tokens as soon as they are final. Called only if wants_tokens().
  virtual void on_tokens(const DecodeJob& job, Search::ScoredTokens tokens) = 0;
  virtual bool wants_tokens() const = 0;  // never changes
  // Returns whether to drop this client's running jobs at the next step, without a result or error.
  virtual bool is_cancelled() const = 0;
};

// A source to decode. Jobs with different rules may share a batch.
struct DecodeJob {
  std::size_t index = 0;  // index of the source among its client's sources
  std::size_t part = 0;   // index of the part, for a source that is decoded in parts
  Prompt prompt = {};
  std::shared_ptr<const SearchRules> rules = {};  // null if the source is only encoded
  std::size_t bytes = 0;                          // see expected_bytes()
  std::shared_ptr<DecodeClient> client = {};

  // Makes the job's search. `source`: number of the job's source in `session`. If empty, make_search() is used.
  std::function<std::unique_ptr<Search>(const DecodeJob& job, int source, Session& session)> search = {};

  std::size_t expected_rows = 0;  // number of encoder rows of a source that has not been read yet

  // Returns the number of source rows and prompt tokens that the model reads when this job starts.
  std::size_t tokens() const { return std::max(prompt.source_rows(), expected_rows) + prompt.target.size(); }
};

// Sorts jobs by number of tokens, longest first. The sort is stable and moves each job once, since jobs are large.
inline void sort_longest_first(std::vector<DecodeJob>& jobs) {
  std::vector<std::pair<std::size_t, std::size_t>> order;  // tokens, index
  for (const DecodeJob& job : jobs) order.emplace_back(job.tokens(), order.size());
  std::ranges::stable_sort(order, std::greater(), &std::pair<std::size_t, std::size_t>::first);
  std::vector<DecodeJob> sorted;
  sorted.reserve(jobs.size());
  for (const auto& [tokens, index] : order) sorted.push_back(std::move(jobs[index]));
  jobs = std::move(sorted);
}

// A supply of jobs for workers. Thread-safe.
class DecodeFeed {
 public:
  virtual ~DecodeFeed() = default;

  // Free capacity in a worker's batch.
  struct Capacity {
    std::size_t rows = 0;
    std::size_t bytes = 0;
    std::size_t tokens = 0;
    bool is_idle = false;  // the batch is empty, so the first job is accepted whatever its size

    // Returns whether a job fits, and if so, subtracts its size from the capacity.
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
  // Replaces `jobs` by jobs that fit into `capacity`.
  // - For an idle worker (capacity.is_idle): may wait. If `jobs` is then empty, decode_batches() ends.
  // - For a busy worker: does not wait, and may leave `jobs` empty.
  virtual void take(Capacity capacity, std::vector<DecodeJob>& jobs) = 0;
  // Returns whether workers should stop now, even if sources are unfinished.
  virtual bool has_stopped() = 0;
};

}  // namespace encdec
