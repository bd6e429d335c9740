#pragma once

#include <cstddef>
#include <memory>

#include "encdec/models/generation/decode_feed.h"
#include "encdec/models/speech/features/voice_activity.h"
#include "encdec/models/speech/transcription/recording.h"
#include "encdec/models/speech/transcription/transcribe_options.h"
#include "encdec/models/speech/transcription/transcriber.h"

namespace encdec {

// The checked options of one transcribe() call, and what a family of models makes of them. Thread-safe.
class RecordingTask {
 public:
  // Throws ConfigError for options that are out of range, and FileError if the voice activity model cannot be read.
  explicit RecordingTask(const TranscribeOptions& options);
  virtual ~RecordingTask() = default;

  const TranscribeOptions& options() const { return options_; }
  // Returns the voice activity model; null if the whole recording is transcribed.
  const std::shared_ptr<const VoiceActivity>& voice_activity() const { return voice_activity_; }

  // Returns the length of the longest window, in seconds.
  virtual double window_seconds() const = 0;
  // Returns the number of sequences (beams or samples) decoded in parallel for a window.
  virtual std::size_t rows_per_window() const = 0;
  // Makes a job with the size of a window, for use before its frames are known.
  virtual DecodeJob any_window() const = 0;
  // Makes the transcriber of a recording. Throws FileError. REQUIRES: this task outlives it.
  virtual std::unique_ptr<Transcriber> open(Recording recording) const = 0;

 private:
  TranscribeOptions options_;
  std::shared_ptr<const VoiceActivity> voice_activity_;
};

}  // namespace encdec
