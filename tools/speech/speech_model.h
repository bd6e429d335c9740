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

// Callbacks of a request for a transcript, with the rules of GenerateHandlers.
// Order of calls: (on_segments | on_progress)* (on_result | on_failure)
struct TranscribeHandlers {
  // `transcript.segments` is empty, because all segments were passed to on_segments.
  std::function<void(Transcript transcript)> on_result;
  std::function<void(std::exception_ptr failure)> on_failure;
  // Called with segments as soon as they are final. Optional.
  std::function<void(std::span<const TranscriptSegment> segments)> on_segments = {};
  // Called after each decoded window with the number of seconds transcribed so far. Optional.
  std::function<void(double seconds)> on_progress = {};
};

// A source of recordings and a sink for transcripts. There may be more recordings than can be open at once.
// transcribe_stream() calls these functions in its caller's thread, and throws their exceptions.
class TranscribeStream {
 public:
  virtual ~TranscribeStream() = default;
  // Returns the next recording. At the end, returns nullopt, even if called again.
  virtual std::optional<Recording> next() = 0;
  // Called with each transcript as soon as the transcript is finished.
  virtual void write(std::size_t recording, Transcript transcript) = 0;
  // Called if a recording cannot be read. Returns true to skip the recording, or false to throw `error`.
  virtual bool skips(std::size_t /*recording*/, const Error& /*error*/) { return false; }
};

// Transcribes recordings. A transcript is bitwise identical whether its recording is transcribed
// alone or with others. Thread-safe; copies share one model.
class SpeechModel {
 public:
  // Throws ConfigError if the model does not read audio, or if its files contradict each other.
  explicit SpeechModel(Model model);

  const Model& model() const { return model_; }
  // Returns the codes of the model's languages. For Moonshine, whose files list no languages, returns {"en"}.
  std::vector<std::string> languages() const;
  // Returns the maximum length of a window.
  double window_seconds() const;
  // Throws ConfigError for options that are out of range or not supported by this model.
  void check(const TranscribeOptions& options) const { static_cast<void>(task(options)); }

  // The functions below throw like check(). They throw FileError if a recording cannot be read.

  // Returns a transcript for each recording, in order.
  std::vector<Transcript> transcribe(std::vector<Recording> recordings, const TranscribeOptions& options = {}) const;
  Transcript transcribe(Recording recording, const TranscribeOptions& options = {}) const;
  // Returns the forced alignment of a text: the segments are its lines. Words that were not found
  // have NaN times. Only language, voice activity, batch_size, workers and callbacks apply. Throws
  // ConfigError for Moonshine, and InputError for a text without words.
  Transcript align(Recording recording, std::string text, const TranscribeOptions& options = {}) const;
  // Transcribes the recordings that `stream` supplies. Memory does not grow with their number or length.
  void transcribe_stream(TranscribeStream& stream, const TranscribeOptions& options = {}) const;

  // Returns options for a queue whose recordings are transcribed with `options`.
  RequestQueueOptions queue_options(const TranscribeOptions& options) const;

  // Submits a recording to a queue of this model, which decodes windows of many requests together.
  // If the recording cannot be read, calls on_failure. Ignores batch_size, workers and callbacks of
  // `options`. For `client` see RequestQueue::submit(). If `yields` is true, only an idle worker starts the request.
  Request submit(RequestQueue& queue, Recording recording, const TranscribeOptions& options,
                 TranscribeHandlers handlers, std::uint64_t client = 0, bool yields = false) const;

 private:
  std::shared_ptr<const RecordingTask> task(const TranscribeOptions& options) const;

  Model model_;
  std::shared_ptr<const WhisperFacts> facts_;  // null for other families
};

}  // namespace encdec
