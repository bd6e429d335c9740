#include "encdec/models/transcription/transcriber.h"

#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "encdec/engine/base/cancellation.h"
#include "encdec/engine/thread_team.h"
#include "encdec/models/generation/batch_decoder.h"
#include "encdec/models/generation/not_a_number.h"

namespace encdec {
namespace {

// A call: its recordings, its workers, and what they tell. A recording has one window at a time, which waits for a
// worker or is with one; when that is decoded, the same worker prepares the next.
class Transcriber final : DecodeClient, DecodeFeed {
 public:
  Transcriber(const ModelParts& parts, const WhisperFacts& facts, const TranscribeOptions& options,
              TranscribeStream& stream)
      : parts_(parts),
        task_(parts, facts, options),
        limits_(choose_batch_limits(
            parts.network, static_cast<std::size_t>(options.batch_size) * task_.rows_per_window(), options.workers)),
        stream_(stream),
        progress_(static_cast<std::size_t>(options.workers)) {}

  void run() {
    const int workers = task_.options().workers;
    std::vector<std::thread> others;
    try {
      for (int worker = 2; worker <= workers; ++worker) {
        others.push_back(start_thread(worker, workers, [this, worker] { work(worker); }));
      }
    } catch (...) {
      stop(std::current_exception());
    }
    work(1);
    for (std::thread& other : others) other.join();
    if (failure_ != nullptr) std::rethrow_exception(failure_);
  }

 private:
  void work(int worker) {
    try {
      const CancellationScope scope(check_);
      SessionPool::Lease session(parts_.sessions);
      BatchWork batches{.session = *session, .limits = limits_};
      if (task_.options().on_work) {
        batches.on_step = [this, worker](const GenerateProgress& done, std::size_t) {
          const std::lock_guard telling(telling_);
          progress_[static_cast<std::size_t>(worker) - 1] = done;
          GenerateProgress total;
          for (const GenerateProgress& part : progress_) total += part;
          task_.options().on_work(total);
        };
      }
      decode_batches(*this, batches);
    } catch (...) {
      stop(std::current_exception());
    }
  }

  // Work ends; only the first failure counts.
  void stop(std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    if (failure_ == nullptr) failure_ = std::move(failure);
    has_stopped_ = true;
    changed_.notify_all();
  }
  bool has_stopped() override {
    const std::lock_guard lock(mutex_);
    return has_stopped_;
  }

  // Recordings that have begun go on first.
  void take(Room room, std::vector<DecodeJob>& jobs) override {
    jobs.clear();
    std::unique_lock lock(mutex_);
    while (!has_stopped_) {
      if (!ready_.empty()) {
        if (!room.take(ready_.front())) return;
        jobs.push_back(std::move(ready_.front()));
        ready_.pop_front();
      } else if (!is_at_end_ && (room.is_idle || room.rows >= task_.rows_per_window())) {
        ++opening_;
        lock.unlock();
        open_next();
        lock.lock();
        --opening_;
        changed_.notify_all();
      } else if (room.is_idle && jobs.empty() && (opening_ > 0 || !open_.empty())) {
        changed_.wait(lock);
      } else {
        return;
      }
    }
  }

  void open_next() {
    std::size_t number = 0;
    try {
      std::optional<Recording> recording;
      {
        const std::lock_guard lock(telling_);
        number = read_++;
        recording = stream_.next();
      }
      if (!recording) {
        const std::lock_guard lock(mutex_);
        is_at_end_ = true;
        return;
      }
      auto transcriber = std::make_unique<RecordingTranscriber>(task_, *std::move(recording));
      RecordingTranscriber& opened = *transcriber;
      {
        const std::lock_guard lock(mutex_);
        open_.emplace(number, std::move(transcriber));
      }
      go_on(number, opened);
    } catch (const FileError& error) {
      give_up(number, error);
    }
  }

  // Has the next window of a recording wait for a worker; or ends it.
  void go_on(std::size_t number, RecordingTranscriber& transcriber) {
    std::optional<DecodeJob> job = transcriber.next();
    if (!job) {
      const std::lock_guard telling(telling_);
      stream_.write(number, transcriber.transcript());
      return forget(number);
    }
    job->index = number;
    job->client = std::shared_ptr<DecodeClient>(std::shared_ptr<void>(), this);
    const std::lock_guard lock(mutex_);
    ready_.push_back(*std::move(job));
    changed_.notify_all();
  }

  void forget(std::size_t number) {
    const std::lock_guard lock(mutex_);
    open_.erase(number);
    changed_.notify_all();
  }

  // A recording that cannot be read.
  void give_up(std::size_t number, const Error& error) {
    const auto failure = std::current_exception();
    bool is_passed_over = false;
    {
      const std::lock_guard telling(telling_);
      is_passed_over = stream_.passes_over(number, error);
    }
    is_passed_over ? forget(number) : stop(failure);
  }

  void on_result(const DecodeJob& job, std::vector<Hypothesis> /*hypotheses*/) override {
    RecordingTranscriber* transcriber = nullptr;
    {
      const std::lock_guard lock(mutex_);
      transcriber = open_.at(job.index).get();
    }
    try {
      const std::vector<TranscriptSegment> segments = transcriber->finish();
      {
        const std::lock_guard telling(telling_);
        if (!segments.empty() && task_.options().on_segments) task_.options().on_segments(job.index, segments);
        if (task_.options().on_progress) task_.options().on_progress(job.index, transcriber->seconds_done());
      }
      go_on(job.index, *transcriber);
    } catch (const FileError& error) {
      give_up(job.index, error);
    }
  }
  void on_failure(const DecodeJob& /*job*/, const std::exception_ptr& failure) override {
    stop(explained(failure, parts_));
  }
  void on_tokens(const DecodeJob& /*job*/, Search::ScoredTokens /*tokens*/) override {}
  bool wants_tokens() const override { return false; }
  bool is_cancelled() const override { return false; }

  const std::function<void()>* check_ = CancellationScope::check_of_this_thread();  // also of the workers
  ModelParts parts_;
  TranscriptionTask task_;
  BatchLimits limits_;
  TranscribeStream& stream_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<DecodeJob> ready_;                                        // windows that wait for a worker
  std::map<std::size_t, std::unique_ptr<RecordingTranscriber>> open_;  // by number
  int opening_ = 0;                                                    // that workers are about to open
  bool is_at_end_ = false;
  bool has_stopped_ = false;
  std::exception_ptr failure_;
  std::mutex telling_;  // of the stream and the callbacks
  std::size_t read_ = 0;
  std::vector<GenerateProgress> progress_;  // by worker
};

}  // namespace

void transcribe(const ModelParts& parts, const WhisperFacts& facts, const TranscribeOptions& options,
                TranscribeStream& stream) {
  Transcriber(parts, facts, options, stream).run();
}

}  // namespace encdec
