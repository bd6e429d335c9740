#include "encdec/models/generation/source_feed.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "encdec/engine/base/error.h"
#include "encdec/models/generation/generation_task.h"

namespace encdec {
namespace {

// Maximum size of a window of inputs read ahead.
constexpr std::size_t kWindowSources = 1024;
constexpr std::size_t kWindowTokens = 1 << 20;
// Maximum number of inputs without a written result; beyond it no further window is read.
constexpr std::size_t kWaitingResults = 4 * kWindowSources;
// Time between two attempts of an idle worker to read input while others are busy.
constexpr auto kPollInterval = std::chrono::milliseconds(10);

}  // namespace

SourceFeed::Arrived SourceFeed::read_window(bool may_wait) {
  using Wait = GenerateStream::Wait;
  std::size_t tokens = 0;
  const std::size_t first = read_;
  while (!at_end_ && read_ - first < kWindowSources && tokens < kWindowTokens) {
    const bool waits = may_wait && read_ == first;
    try {
      const std::optional<GenerateInput> input = ends_.stream.next(waits ? Wait::yes : Wait::no);
      if (!input) {
        at_end_ = waits;
        break;
      }
      std::optional<DecodeJob> job = prepare(*input);
      if (!job || job->prompt.target.empty()) {
        results_.emplace(read_, job ? GenerationTask::empty_result() : GenerateResult{});
        ++finished_;
      } else {
        tokens += job->tokens();
        window_.push_back(*std::move(job));
      }
    } catch (...) {
      input_failure_ = std::current_exception();
      at_end_ = true;
      break;
    }
    ++read_;
  }
  write_ready_results();
  std::ranges::stable_sort(window_, std::greater(), &DecodeJob::tokens);
  if (read_ > first) return Arrived::some;
  return at_end_ ? Arrived::end : Arrived::none;
}

std::optional<DecodeJob> SourceFeed::prepare(const GenerateInput& input) {
  try {
    return ends_.prepare(input, read_);
  } catch (const InputError& error) {
    if (!ends_.stream.skips(error)) throw;
  } catch (const TokenizerError& error) {
    if (!ends_.stream.skips(error)) throw;
  }
  return std::nullopt;
}

void SourceFeed::take(Capacity capacity, std::vector<DecodeJob>& jobs) {
  jobs.clear();
  std::unique_lock lock(mutex_);
  while (window_.empty() && !at_end_ && !has_stopped_) {
    // A read that waits for input holds the lock, so it is allowed only while no worker is decoding.
    const bool may_wait = capacity.is_idle && running_ == 0;
    const bool may_read = read_ - written_ < kWaitingResults;
    if (may_read && read_window(may_wait) != Arrived::none) continue;
    if (!capacity.is_idle) return;
    changed_.wait_for(lock, kPollInterval);
  }
  if (has_stopped_) return;
  while (!window_.empty() && capacity.take(window_.front())) {
    jobs.push_back(std::move(window_.front()));
    window_.pop_front();
  }
  running_ += jobs.size();
}

void SourceFeed::finish(std::size_t index, GenerateResult result) {
  const std::lock_guard lock(mutex_);
  results_.emplace(index, std::move(result));
  --running_;
  ++finished_;
  write_ready_results();
  changed_.notify_all();
}

void SourceFeed::write_ready_results() {
  while (!results_.empty() && results_.begin()->first == written_) {
    auto next = results_.extract(results_.begin());
    ++written_;
    ends_.complete(next.mapped());
    ends_.stream.write(std::move(next.mapped()));
  }
}

void SourceFeed::stop(std::exception_ptr failure) {
  const std::lock_guard lock(mutex_);
  if (!has_stopped_) failure_ = std::move(failure);
  has_stopped_ = true;
  changed_.notify_all();
}

bool SourceFeed::has_stopped() {
  const std::lock_guard lock(mutex_);
  return has_stopped_;
}

void SourceFeed::rethrow_failure() {
  if (failure_ != nullptr) std::rethrow_exception(failure_);
  if (input_failure_ != nullptr) std::rethrow_exception(input_failure_);
}

std::size_t SourceFeed::finished_sources() {
  const std::lock_guard lock(mutex_);
  return finished_;
}

}  // namespace encdec
