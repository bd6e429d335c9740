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

// A transcriber of one recording, window by window. With a voice activity model it first looks for speech in the whole
// recording, and then reads only the speech.
// Order of calls: (read+ next finish)* read+ next, where the last next() returns nullopt. One thread at a time.
class Transcriber {
 public:
  // `voice_activity` is null to transcribe all of the recording. Throws FileError.
  Transcriber(Recording recording, const std::shared_ptr<const VoiceActivity>& voice_activity,
              const VoiceActivityOptions& options);
  virtual ~Transcriber() = default;

  // Reads one or two more seconds of the recording. Returns true when enough has been read for next(). Throws
  // FileError.
  bool read();
  // Returns the next job; nullopt at the end. REQUIRES: read() has returned true since the last call.
  virtual std::optional<DecodeJob> next() = 0;
  // Returns the segments that are final now. `hypotheses` belong to the job from next().
  virtual std::vector<TranscriptSegment> finish(std::vector<Hypothesis> hypotheses) = 0;

  // Returns the time up to which the recording is transcribed, in seconds.
  virtual double seconds_done() const = 0;
  // Returns the transcript without its segments, which finish() has returned. REQUIRES: next() has returned nullopt.
  virtual Transcript transcript() const = 0;

 protected:
  // Takes the recording, or its speech. Called once, by the first read() after the speech is found.
  virtual void open(Recording recording) = 0;
  // Reads as read() does. REQUIRES: open() has been called.
  virtual bool read_window() = 0;

  // Moves times in the speech to those in the recording.
  void restore(TranscriptSegment& segment) const;
  double restored(double seconds) const;
  // Returns the duration of the recording, `read` seconds of which were read.
  double duration(double read) const { return times_ ? seconds_.value_or(read) : read; }

 private:
  std::optional<SpeechTimeMap> times_;  // unset without voice activity
  std::optional<double> seconds_;       // duration of the recording; unset if unknown
  std::optional<Recording> recording_;  // until open()
  std::optional<SpeechFinder> finder_;  // while it reads the recording
};

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
