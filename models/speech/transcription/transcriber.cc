#include "encdec/models/speech/transcription/transcriber.h"

#include <condition_variable>
#include <deque>
#include <exception>
#include <iterator>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "encdec/engine/base/cancellation.h"
#include "encdec/engine/thread_team.h"
#include "encdec/models/generation/batch_decoder.h"
#include "encdec/models/generation/not_a_number.h"
#include "encdec/models/speech/transcription/chunked_recording.h"

namespace encdec {
namespace {

// One transcribe() call: its recordings, its workers and its callbacks. A recording, or a chunk of one, has one window
// at a time. The worker that has decoded a window prepares the next one, which then waits for any worker.
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
          const std::lock_guard telling(callback_mutex_);
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

  // Stops the work. Only the first failure is kept.
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

  // Prefers windows of open recordings to opening another recording.
  void take(Capacity capacity, std::vector<DecodeJob>& jobs) override {
    jobs.clear();
    std::unique_lock lock(mutex_);
    while (!has_stopped_) {
      if (!ready_.empty()) {
        if (!capacity.take(ready_.front())) return;
        jobs.push_back(std::move(ready_.front()));
        ready_.pop_front();
      } else if (!is_at_end_ && (capacity.is_idle || capacity.rows >= task_.rows_per_window())) {
        ++opening_;
        lock.unlock();
        open_next();
        lock.lock();
        --opening_;
        changed_.notify_all();
      } else if (capacity.is_idle && jobs.empty() && (opening_ > 0 || !open_.empty())) {
        changed_.wait(lock);
      } else {
        return;
      }
    }
  }

  // A whole recording, or a chunk of one.
  struct Part {
    std::size_t recording = 0;
    std::shared_ptr<ChunkedRecording> whole = {};  // the recording that the chunk is from; null for a whole recording
    std::size_t chunk = 0;
    std::optional<RecordingTranscriber> transcriber = {};
    std::vector<TranscriptSegment> segments = {};  // segments of the chunk; empty for a whole recording
  };

  // Returns the next chunk of the recording that is being cut, or else the next recording or its first chunk; nullopt
  // at the end. Fills in `part` except for the transcriber.
  std::optional<Recording> next_part(Part& part) {
    const std::lock_guard lock(callback_mutex_);
    if (part.whole = std::exchange(cut_, nullptr); part.whole != nullptr) {
      part.recording = read_ - 1;
    } else {
      part.recording = read_++;
      std::optional<Recording> recording = stream_.next();
      if (!recording || task_.options().chunk_length == 0) return recording;
      part.whole = std::make_shared<ChunkedRecording>(task_, *recording);
    }
    auto chunk = part.whole->next();
    if (!part.whole->is_cut()) cut_ = part.whole;
    part.chunk = chunk->number;
    return std::move(chunk->recording);
  }

  void open_next() {
    auto part = std::make_unique<Part>();
    Part& opened = *part;
    std::optional<DecodeJob> job;
    try {
      std::optional<Recording> recording = next_part(opened);
      if (!recording) {
        const std::lock_guard lock(mutex_);
        is_at_end_ = true;
        return;
      }
      opened.transcriber.emplace(task_, *std::move(recording));
      job = next_window(opened);
    } catch (const FileError& error) {
      return give_up(opened.recording, error);
    }
    std::size_t number = 0;
    {
      const std::lock_guard lock(mutex_);
      number = opened_++;
      open_.emplace(number, std::move(part));
    }
    go_on(number, opened, std::move(job));
  }

  // Reads the next window of a part; nullopt at the end. Throws FileError if the recording cannot be read.
  static std::optional<DecodeJob> next_window(Part& part) {
    while (!part.transcriber->read()) {
    }
    return part.transcriber->next();
  }

  // Queues the next window of a part. If there is none, writes the part's transcript and closes the part.
  void go_on(std::size_t number, Part& part, std::optional<DecodeJob> job) {
    if (!job) {
      write(part);
      return forget(number);
    }
    job->index = number;
    job->client = std::shared_ptr<DecodeClient>(std::shared_ptr<void>(), this);
    const std::lock_guard lock(mutex_);
    ready_.push_back(*std::move(job));
    changed_.notify_all();
  }

  // Writes the transcript of a finished recording. For a chunk, only if it is the last one of its recording to finish.
  void write(Part& part) {
    Transcript transcript = part.transcriber->transcript();
    if (part.whole != nullptr) {
      transcript.segments = std::move(part.segments);
      if (!part.whole->add(part.chunk, std::move(transcript))) return;
      transcript = part.whole->transcript();
    }
    const std::lock_guard telling(callback_mutex_);
    if (part.whole != nullptr) tell(part.recording, std::exchange(transcript.segments, {}));
    stream_.write(part.recording, std::move(transcript));
  }

  void tell(std::size_t recording, std::span<const TranscriptSegment> segments) {
    if (!segments.empty() && task_.options().on_segments) task_.options().on_segments(recording, segments);
  }

  void forget(std::size_t number) {
    const std::lock_guard lock(mutex_);
    open_.erase(number);
    changed_.notify_all();
  }

  // Reports a recording that cannot be read. Stops the work unless the stream skips it. Called in a catch block.
  void give_up(std::size_t recording, const Error& error) {
    const auto failure = std::current_exception();
    bool is_passed_over = false;
    {
      const std::lock_guard telling(callback_mutex_);
      is_passed_over = stream_.skips(recording, error);
    }
    if (!is_passed_over) stop(failure);
  }

  void on_result(const DecodeJob& job, std::vector<Hypothesis> /*hypotheses*/) override {
    Part* part = nullptr;
    {
      const std::lock_guard lock(mutex_);
      part = open_.at(job.index).get();
    }
    std::vector<TranscriptSegment> segments = part->transcriber->finish();
    {
      const std::lock_guard telling(callback_mutex_);
      const bool is_chunk = part->whole != nullptr;
      if (is_chunk) {
        std::ranges::move(segments, std::back_inserter(part->segments));
      } else {
        tell(part->recording, segments);
      }
      if (task_.options().on_progress) {
        task_.options().on_progress(part->recording,
                                    is_chunk ? part->whole->seconds_done() : part->transcriber->seconds_done());
      }
    }
    std::optional<DecodeJob> next;
    try {
      next = next_window(*part);
    } catch (const FileError& error) {
      give_up(part->recording, error);
      return forget(job.index);
    }
    go_on(job.index, *part, std::move(next));
  }
  void on_failure(const DecodeJob& /*job*/, const std::exception_ptr& failure) override {
    stop(explained(failure, parts_));
  }
  void on_tokens(const DecodeJob& /*job*/, Search::ScoredTokens /*tokens*/) override {}
  bool wants_tokens() const override { return false; }
  bool is_cancelled() const override { return false; }

  const std::function<void()>* check_ = CancellationScope::check_of_this_thread();  // the caller's, for all workers
  ModelParts parts_;
  TranscriptionTask task_;
  BatchLimits limits_;
  TranscribeStream& stream_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<DecodeJob> ready_;                        // windows that wait for a worker
  std::map<std::size_t, std::unique_ptr<Part>> open_;  // by number
  std::size_t opened_ = 0;                             // number of parts opened so far
  int opening_ = 0;                                    // number of workers that are opening a part
  bool is_at_end_ = false;
  bool has_stopped_ = false;
  std::exception_ptr failure_;
  std::mutex callback_mutex_;               // held while the stream or a callback is called
  std::size_t read_ = 0;                    // number of recordings taken from the stream
  std::shared_ptr<ChunkedRecording> cut_;   // recording with chunks left; null if there is none
  std::vector<GenerateProgress> progress_;  // by worker
};

}  // namespace

void transcribe(const ModelParts& parts, const WhisperFacts& facts, const TranscribeOptions& options,
                TranscribeStream& stream) {
  Transcriber(parts, facts, options, stream).run();
}

}  // namespace encdec
