#include "encdec/speech/speech_model.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/generation/batch_limits.h"
#include "encdec/models/generation/generation_settings.h"
#include "encdec/models/model/mailbox.h"
#include "encdec/models/model/request_state.h"
#include "encdec/speech/transcription/moonshine_task.h"
#include "encdec/speech/transcription/transcription_task.h"

namespace encdec {
namespace {

// A request for a transcript. The queue holds one window of the request at a time; after the window is
// decoded, the next window is queued. A worker reads the audio of a window in prepare().
class SpeechRequest final : public RequestState {
 public:
  SpeechRequest(const Model& model, std::shared_ptr<const RecordingTask> task, Recording recording,
                TranscribeHandlers handlers)
      : RequestState(model, [on_failure = std::move(handlers.on_failure)](
                                std::size_t, std::exception_ptr failure) { on_failure(std::move(failure)); }),
        task_(std::move(task)),
        is_cut_(recording.is_cut),
        recording_(std::move(recording)),
        handlers_(std::move(handlers)) {}

  bool needs_preparation() const override { return true; }
  // Reads the next window into `job`. After the last window, calls on_result with the transcript.
  Prepared prepare(DecodeJob& job, Clock::time_point until) override {
    if (is_over()) return Prepared::over;
    try {
      if (!transcriber_) transcriber_ = task_->open(std::move(recording_));
      while (!transcriber_->read()) {
        if (Clock::now() >= until) return Prepared::unfinished;
      }
      if (std::optional<DecodeJob> window = transcriber_->next()) {
        window->client = std::move(job.client);
        job = *std::move(window);
        return Prepared::ready;
      }
      Transcript transcript = transcriber_->transcript();
      transcript.is_cut = *is_cut_;
      call([&] { handlers_.on_result(std::move(transcript)); });
    } catch (...) {
      on_failure(job, std::current_exception());
    }
    return Prepared::over;
  }

  void on_result(const DecodeJob& job, std::vector<Hypothesis> hypotheses) override {
    if (is_over()) return;
    try {
      const std::vector<TranscriptSegment> segments = transcriber_->finish(std::move(hypotheses));
      if (!segments.empty() && handlers_.on_segments) call([&] { handlers_.on_segments(segments); });
      if (handlers_.on_progress) {
        const double seconds = transcriber_->seconds_done();
        call([&] { handlers_.on_progress(seconds); });
      }
      if (!is_over()) enqueue(task_->any_window());
    } catch (...) {
      on_failure(job, std::current_exception());
    }
  }

 private:
  std::shared_ptr<const RecordingTask> task_;
  std::shared_ptr<const std::atomic<bool>> is_cut_;
  Recording recording_;
  TranscribeHandlers handlers_;
  std::unique_ptr<Transcriber> transcriber_;  // set by the first worker
};

class RecordingList final : public TranscribeStream {
 public:
  explicit RecordingList(std::vector<Recording> recordings)
      : transcripts(recordings.size()), recordings_(std::move(recordings)) {}

  std::optional<Recording> next() override {
    return read_ < recordings_.size() ? std::optional(std::move(recordings_[read_++])) : std::nullopt;
  }
  void add(std::size_t recording, std::span<const TranscriptSegment> segments) {
    std::vector<TranscriptSegment>& all = transcripts[recording].segments;
    all.insert(all.end(), segments.begin(), segments.end());
  }
  void write(std::size_t recording, Transcript transcript) override {
    transcript.segments = std::move(transcripts[recording].segments);
    transcripts[recording] = std::move(transcript);
  }

  std::vector<Transcript> transcripts;

 private:
  std::vector<Recording> recordings_;
  std::size_t read_ = 0;
};

// One call of SpeechModel::transcribe_stream(). The caller's thread submits recordings to a new
// queue and writes the transcripts. At most most_open_ recordings are in the queue.
class TranscribeCall {
 public:
  TranscribeCall(const SpeechModel& model, const TranscribeOptions& options, TranscribeStream& stream,
                 std::size_t rows_per_window)
      : model_(model), options_(options), stream_(stream) {
    // If on_work throws, send the exception to the caller's thread.
    RequestQueueOptions of_queue = model.queue_options(options);
    of_queue.on_progress = reporting_failures(options.on_work, [this](std::exception_ptr failure) {
      mailbox_.put({0, std::move(failure)});
    });
    queue_.emplace(model.model(), of_queue);
    const BatchLimits limits =
        choose_batch_limits(*model.model().network(), static_cast<std::size_t>(of_queue.batch_size), options.workers);
    most_open_ = std::max<std::size_t>(limits.rows / rows_per_window, 1) * static_cast<std::size_t>(options.workers);
  }

  void run() {
    for (;;) {
      while (!is_at_end_ && open_ < most_open_) open_next();
      if (open_ == 0) break;
      for (Event& event : mailbox_.take(kCancellationInterval)) deliver(event);
    }
    // Wait for the workers, which may still report events.
    queue_.reset();
    for (Event& event : mailbox_.take({})) deliver(event);
  }

 private:
  struct Event {
    std::size_t recording = 0;
    std::variant<std::vector<TranscriptSegment>, double, Transcript, std::exception_ptr> what = {};
  };

  // Submits the next recording, with handlers that put events into the mailbox.
  void open_next() {
    const std::size_t number = read_++;
    try {
      std::optional<Recording> recording = stream_.next();
      if (!recording) return static_cast<void>(is_at_end_ = true);
      const auto put = [this, number](auto what) { mailbox_.put({number, std::move(what)}); };
      const auto put_segments = [put](std::span<const TranscriptSegment> segments) {
        put(std::vector(segments.begin(), segments.end()));
      };
      model_.submit(*queue_, *std::move(recording), options_,
                    {.on_result = put, .on_failure = put, .on_segments = put_segments, .on_progress = put});
      ++open_;
    } catch (const FileError& error) {
      if (!stream_.skips(number, error)) throw;
    }
  }

  // Passes an event to the caller's callback. Throws a failure unless the stream skips the recording.
  void deliver(Event& event) {
    if (const auto* segments = std::get_if<std::vector<TranscriptSegment>>(&event.what)) {
      if (options_.on_segments) options_.on_segments(event.recording, *segments);
    } else if (const auto* seconds = std::get_if<double>(&event.what)) {
      if (options_.on_progress) options_.on_progress(event.recording, *seconds);
    } else if (auto* transcript = std::get_if<Transcript>(&event.what)) {
      --open_;
      stream_.write(event.recording, std::move(*transcript));
    } else {
      --open_;
      try {
        std::rethrow_exception(std::get<std::exception_ptr>(event.what));
      } catch (const FileError& error) {
        if (!stream_.skips(event.recording, error)) throw;
      }
    }
  }

  const SpeechModel& model_;
  const TranscribeOptions& options_;
  TranscribeStream& stream_;
  Mailbox<Event> mailbox_;
  std::size_t most_open_ = 1;  // maximum number of recordings in the queue
  std::size_t open_ = 0;
  std::size_t read_ = 0;  // number of recordings read from the stream
  bool is_at_end_ = false;
  std::optional<RequestQueue> queue_;  // last member, destroyed first, because workers use the other members
};

}  // namespace

SpeechModel::SpeechModel(Model model) : model_(std::move(model)) {
  expect_speech_model(model_.parts());
  if (model_.config().encoder.frames.reads_samples()) return;
  facts_ = std::make_shared<const WhisperFacts>(model_.checkpoint(), model_.config(), model_.tokenizer());
}

std::shared_ptr<const RecordingTask> SpeechModel::task(const TranscribeOptions& options) const {
  if (facts_ == nullptr) return std::make_shared<const MoonshineTask>(model_.parts(), options);
  // The task refers to *facts_, so the deleter of the task shares the ownership of facts_.
  return {new TranscriptionTask(model_.parts(), *facts_, options),
          [facts = facts_](const RecordingTask* task) { delete task; }};
}

std::vector<std::string> SpeechModel::languages() const {
  return facts_ != nullptr ? facts_->tokens.language_codes() : std::vector<std::string>{"en"};
}

double SpeechModel::window_seconds() const {
  return task({})->window_seconds();
}

void SpeechModel::transcribe_stream(TranscribeStream& stream, const TranscribeOptions& options) const {
  // Creating a task checks the options, even if there are no recordings.
  TranscribeCall(*this, options, stream, task(options)->rows_per_window()).run();
}

std::vector<Transcript> SpeechModel::transcribe(std::vector<Recording> recordings,
                                                const TranscribeOptions& options) const {
  RecordingList list(std::move(recordings));
  TranscribeOptions collecting = options;
  collecting.on_segments = [&](std::size_t recording, std::span<const TranscriptSegment> segments) {
    list.add(recording, segments);
    if (options.on_segments) options.on_segments(recording, segments);
  };
  transcribe_stream(list, collecting);
  return std::move(list.transcripts);
}

Transcript SpeechModel::transcribe(Recording recording, const TranscribeOptions& options) const {
  std::vector<Recording> recordings;
  recordings.push_back(std::move(recording));
  return std::move(transcribe(std::move(recordings), options).front());
}

Transcript SpeechModel::align(Recording recording, std::string text, const TranscribeOptions& options) const {
  recording.text = std::move(text);
  return transcribe(std::move(recording), options);
}

RequestQueueOptions SpeechModel::queue_options(const TranscribeOptions& options) const {
  const auto per_window = static_cast<std::int64_t>(task(options)->rows_per_window());
  const std::int64_t rows = std::int64_t{options.batch_size} * per_window;
  return {.workers = options.workers,
          .batch_size = static_cast<int>(std::min<std::int64_t>(rows, kMaxTokenCount)),
          .preparation_time = std::chrono::hours(1)};
}

Request SpeechModel::submit(RequestQueue& queue, Recording recording, const TranscribeOptions& options,
                            TranscribeHandlers handlers, std::uint64_t client, bool yields) const {
  if (recording.text && facts_ == nullptr) {
    refuse<ConfigError>(model_.parts().origin, "this model cannot align a text, expected a Whisper model");
  }
  const auto of_recording = task(recording.text ? alignment_options(options) : options);
  const auto request = std::make_shared<SpeechRequest>(model_, of_recording, std::move(recording), std::move(handlers));
  request->yields = yields;
  // Submit a placeholder job with the size of a window. The placeholder reserves the position in the
  // queue until a worker reads the first window.
  return queue.submit(request, {of_recording->any_window()}, client);
}

}  // namespace encdec
