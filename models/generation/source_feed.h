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

// Stands between a stream and the workers that decode it: reads ahead a window of inputs, hands out the longest of them
// first, so that no long one is left for the end, and writes the results in the order of the inputs. Memory is bounded:
// no window is read while too many results wait for an earlier one. May be used by many threads at once; the stream and
// what prepares and completes are called by one at a time.
class SourceFeed final : public DecodeFeed {
 public:
  struct Ends {
    GenerateStream& stream;
    // Gives the job of input number `index`; one with an empty prompt has an empty result.
    std::function<DecodeJob(const GenerateInput& input, std::size_t index)> prepare;
    // Sees each result before it is written.
    std::function<void(GenerateResult& result)> complete;
  };
  explicit SourceFeed(Ends ends) : ends_(std::move(ends)) {}

  // A worker that is idle waits for input.
  void take(Room room, std::vector<DecodeJob>& jobs) override;
  void finish(std::size_t index, GenerateResult result);

  // Work ends: take() gives nothing more and has_stopped() is true. Only the first failure counts.
  void stop(std::exception_ptr failure);
  bool has_stopped() override;
  // For the end, when all workers are done: throws what a worker or the stream has thrown.
  void rethrow_failure();

  std::size_t finished_sources();

 private:
  enum class Arrived : std::uint8_t { some, none, end };
  Arrived read_window(bool may_wait);
  // The job of the input that is next; nullopt where the stream passes over it.
  std::optional<DecodeJob> prepare(const GenerateInput& input);
  void write_ready_results();

  std::mutex mutex_;
  std::condition_variable changed_;
  Ends ends_;
  std::deque<DecodeJob> window_;                   // longest first
  std::map<std::size_t, GenerateResult> results_;  // that wait for earlier ones
  std::size_t read_ = 0;
  std::size_t written_ = 0;
  std::size_t finished_ = 0;
  std::size_t running_ = 0;
  bool at_end_ = false;
  bool has_stopped_ = false;
  std::exception_ptr failure_;        // of a worker
  std::exception_ptr input_failure_;  // of the stream: told when what came before is done
};

}  // namespace encdec
