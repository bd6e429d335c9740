#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "encdec/speech/features/speech_spans.h"
#include "encdec/speech/features/voice_activity.h"
#include "encdec/speech/transcription/recording.h"

namespace encdec {

// A finder of the parts of a recording that contain speech. Reads the recording once. Keeps 4 bytes per 32 ms of it.
// Order of calls: read+ spans
class SpeechFinder {
 public:
  // Without a model, compares loudness (see make_speech_detector). Throws FileError and ConfigError.
  SpeechFinder(const Recording& recording, const std::shared_ptr<const VoiceActivity>& model,
               const VoiceActivityOptions& options);

  // Reads the next second of the recording. Returns true when all of it has been read. Throws FileError.
  bool read();
  // Returns the parts with speech. REQUIRES: read() has returned true.
  std::vector<SpeechSpan> spans();

 private:
  VoiceActivityOptions options_;
  std::unique_ptr<SpeechDetector> detector_;
  Recording::Read read_;
  std::vector<float> piece_, probabilities_;
  std::uint64_t samples_ = 0;
};

// Returns a recording of the given spans of samples, joined. The original is read on demand; if it ends early, so does
// the result. REQUIRES: the spans are in order and do not overlap.
Recording speech_of(Recording recording, std::vector<SpeechSpan> spans);

}  // namespace encdec
