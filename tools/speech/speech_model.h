#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "encdec/engine/base/error.h"
#include "encdec/models/model/model.h"
#include "encdec/models/model/request_queue.h"
#include "encdec/speech/transcription/recording.h"
#include "encdec/speech/transcription/transcribe_options.h"

namespace encdec {

class RecordingTask;
struct WhisperFacts;

// Callbacks of one request for a transcript. Order of calls: (on_segments | on_progress)* (on_result | on_failure). The
// rules of GenerateHandlers apply.
struct TranscribeHandlers {
  // Called at the end of the recording. `transcript.segments` is empty: the segments went to on_segments.
  std::function<void(Transcript transcript)> on_result;
  std::function<void(std::exception_ptr failure)> on_failure;
  // Called with the next segments as soon as they are final. Optional.
  std::function<void(std::span<const TranscriptSegment> segments)> on_segments = {};
  // Called after each decoded window with the number of seconds transcribed so far. Optional.
  std::function<void(double seconds)> on_progress = {};
};

// A source of recordings and a sink for transcripts, for more of them than can be open at a time. The thread
// that called transcribe() calls its functions.
class TranscribeStream {
 public:
  virtual ~TranscribeStream() = default;
  // Returns the next recording; nullopt at the end and in later calls. Throws FileError if this recording cannot be
  // read; then skips() decides whether to continue.
  virtual std::optional<Recording> next() = 0;
  // Receives a finished transcript. Transcripts come in the order in which they are finished. An exception thrown here
  // ends transcribe(), which throws it.
  virtual void write(std::size_t recording, Transcript transcript) = 0;
  // Called when a recording cannot be read, with the FileError. True: the recording is skipped. False: transcribe()
  // throws `error`.
  virtual bool skips(std::size_t /*recording*/, const Error& /*error*/) { return false; }
};

// A Model that transcribes recordings. A transcript is the same, bit by bit, whether its recording is transcribed alone
// or among others. All functions may be called from many threads at once; copies share one model.
class SpeechModel {
 public:
  // Throws ConfigError if the model reads text, or if the files of its folder contradict each other.
  explicit SpeechModel(Model model);

  const Model& model() const { return model_; }
  // Codes of the languages that the model can transcribe: "en". Moonshine's files do not name theirs; {"en"} stands for
  // any.
  std::vector<std::string> languages() const;
  // Returns the length of the windows that the model reads, in seconds.
  double window_seconds() const;
  // Throws as transcribe() does for options.
  void check(const TranscribeOptions& options) const { static_cast<void>(task(options)); }

  // Returns a transcript for each recording, in their order. Throws FileError if one cannot be read, ConfigError for
  // options that are out of range or not supported by this model.
  std::vector<Transcript> transcribe(std::vector<Recording> recordings, const TranscribeOptions& options = {}) const;
  // The same for one recording.
  Transcript transcribe(Recording recording, const TranscribeOptions& options = {}) const;
  // Returns when a known text was said, as the other functions do for a recording with a `text`. The segments are its
  // lines; words that were not said, or that the model cannot find, have NaN for their times. Of the options only
  // language, voice activity, batch_size, workers and the callbacks apply. Throws as transcribe(), ConfigError for
  // Moonshine, and InputError for a text without words.
  Transcript align(Recording recording, std::string text, const TranscribeOptions& options = {}) const;
  // The same, recording by recording: memory grows neither with their number nor with their length.
  void transcribe_stream(TranscribeStream& stream, const TranscribeOptions& options = {}) const;

  // Returns the options of a queue for recordings that are transcribed with `options`. Throws as transcribe() does for
  // options.
  RequestQueueOptions queue_options(const TranscribeOptions& options) const;

  // Submits a recording to a queue of this model: windows of many requests are decoded together. The queue's workers
  // read the recording, so an unreadable one is a failure of the request. Of the options batch_size, workers and the
  // callbacks are ignored. `client`: see RequestQueue::submit(). If it `yields`, the request starts only while a worker
  // has nothing else to do. Throws as transcribe() does for options.
  Request submit(RequestQueue& queue, Recording recording, const TranscribeOptions& options,
                 TranscribeHandlers handlers, std::uint64_t client = 0, bool yields = false) const;

 private:
  std::shared_ptr<const RecordingTask> task(const TranscribeOptions& options) const;

  Model model_;
  std::shared_ptr<const WhisperFacts> facts_;  // null for other families
};

}  // namespace encdec
