#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "encdec/models/generation/decode_feed.h"
#include "encdec/models/speech/features/voice_activity.h"
#include "encdec/models/speech/transcript/speech_time_map.h"
#include "encdec/models/speech/transcript/transcript.h"
#include "encdec/models/speech/transcription/speech_only.h"

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
  // Returns the segments that are final now. `hypotheses` are those of the job from next().
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

}  // namespace encdec
