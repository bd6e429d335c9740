#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "encdec/models/generation/decode_feed.h"
#include "encdec/speech/transcript/speech_time_map.h"
#include "encdec/speech/transcript/transcript.h"
#include "encdec/speech/transcription/speech_only.h"
#include "encdec/speech/transcription/transcribe_options.h"

namespace encdec {

// Transcribes one recording, window by window. With a voice activity model, first finds the speech in the whole
// recording, then reads only the speech. Only one thread may use a Transcriber at a time.
// Order of calls: (read+ next finish)* read+ next, where the last next() returns nullopt.
class Transcriber {
 public:
  // If `voice_activity` is null, transcribes the whole recording. Throws FileError.
  Transcriber(Recording recording, const std::shared_ptr<const VoiceActivity>& voice_activity,
              const VoiceActivityOptions& options);
  virtual ~Transcriber() = default;

  // Reads one or two more seconds. Returns true when next() can be called. Throws FileError.
  bool read();
  // Returns the next job, or nullopt at the end.
  virtual std::optional<DecodeJob> next() = 0;
  // Processes the result of the job. Returns the segments that are final now.
  virtual std::vector<TranscriptSegment> finish(std::vector<Hypothesis> hypotheses) = 0;

  // Returns the number of seconds that have been transcribed.
  virtual double seconds_done() const = 0;
  // Returns the transcript without segments. REQUIRES: next() has returned nullopt.
  virtual Transcript transcript() const = 0;

 protected:
  // Opens the recording, or its joined speech. Called once, before read_window().
  virtual void open(Recording recording) = 0;
  // Implements read() after open().
  virtual bool read_window() = 0;

  // These functions convert times in the joined speech to times in the recording.
  void restore(TranscriptSegment& segment) const;
  double restored(double seconds) const;
  // Returns the duration of the recording. `read` is the number of seconds that were read.
  double duration(double read) const { return times_ ? seconds_.value_or(read) : read; }

 private:
  std::optional<SpeechTimeMap> times_;  // unset without voice activity
  std::optional<double> seconds_;       // duration of the recording; unset if unknown
  std::optional<Recording> recording_;  // unset after open()
  std::optional<SpeechFinder> finder_;  // unset after the speech was found
};

// The checked options of one transcribe() call, for one model family. Thread-safe.
class RecordingTask {
 public:
  // Throws ConfigError if an option is out of range, and FileError if vad_model cannot be read.
  explicit RecordingTask(const TranscribeOptions& options);
  virtual ~RecordingTask() = default;

  const TranscribeOptions& options() const { return options_; }
  // Returns null if the whole recording is transcribed.
  const std::shared_ptr<const VoiceActivity>& voice_activity() const { return voice_activity_; }

  // Returns the maximum length of a window.
  virtual double window_seconds() const = 0;
  // Returns the number of beams or samples decoded in parallel for a window.
  virtual std::size_t rows_per_window() const = 0;
  // Makes a job with the size of a window, to be queued before the window has been read.
  virtual DecodeJob any_window() const = 0;
  // Throws FileError. REQUIRES: this task outlives the transcriber.
  virtual std::unique_ptr<Transcriber> open(Recording recording) const = 0;

 private:
  TranscribeOptions options_;
  std::shared_ptr<const VoiceActivity> voice_activity_;
};

}  // namespace encdec
