#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "encdec/models/generation/decode_feed.h"

namespace encdec {

// A feed from a GenerateStream.
// - Reads a window of up to 1,024 inputs ahead and hands out the longest first, so that no long one runs alone at the
//   end.
// - Writes the results in the order of the inputs.
// - Bounds memory: reads no further window while 4,096 inputs have no written result.
// Thread-safe. The stream and the functions of Ends are called by one thread at a time.
class SourceFeed final : public DecodeFeed {
 public:
  struct Ends {
    GenerateStream& stream;
    // Makes the job of input number `index`. If the job's prompt has no target, the input gets an empty result.
    std::function<DecodeJob(const GenerateInput& input, std::size_t index)> prepare;
    // Called with each result before it is written.
    std::function<void(GenerateResult& result)> complete;
  };
  explicit SourceFeed(Ends ends) : ends_(std::move(ends)) {}

  void take(Capacity capacity, std::vector<DecodeJob>& jobs) override;
  // Adds the result of input number `index`, and writes all results that are next in order.
  void finish(std::size_t index, GenerateResult result);

  // Stops the work: take() returns no more jobs and has_stopped() returns true. Only the first failure is kept.
  void stop(std::exception_ptr failure);
  bool has_stopped() override;
  // Throws the failure given to stop(), or else the exception that the stream threw. REQUIRES: all workers are done.
  void rethrow_failure();

  std::size_t finished_sources();

 private:
  // Result of read_window(). some: inputs were read; none: no input has arrived yet; end: there are no more inputs.
  enum class Arrived : std::uint8_t { some, none, end };
  Arrived read_window(bool may_wait);
  // Makes the job of input number read_. Returns nullopt if the model cannot read the input and the stream skips it.
  std::optional<DecodeJob> prepare(const GenerateInput& input);
  void write_ready_results();

  std::mutex mutex_;
  std::condition_variable changed_;
  Ends ends_;
  std::deque<DecodeJob> window_;                   // longest first
  std::map<std::size_t, GenerateResult> results_;  // results that wait for those of earlier inputs
  std::size_t read_ = 0;                           // number of inputs read
  std::size_t written_ = 0;                        // number of results written
  std::size_t finished_ = 0;
  std::size_t running_ = 0;  // number of jobs that workers are decoding
  bool at_end_ = false;
  bool has_stopped_ = false;
  std::exception_ptr failure_;        // first failure of a worker
  std::exception_ptr input_failure_;  // failure of the stream; thrown after the earlier inputs are done
};

}  // namespace encdec
