#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "encdec/models/speech/features/speech_spans.h"
#include "encdec/models/speech/features/voice_activity.h"
#include "encdec/models/speech/transcription/recording.h"

namespace encdec {

// Finds where someone speaks in a recording, which is read once; 4 bytes for each 32 ms are kept meanwhile.
class SpeechFinder {
 public:
  // Throws FileError and ConfigError.
  SpeechFinder(const Recording& recording, const std::shared_ptr<const VoiceActivity>& model,
               const VoiceActivityOptions& options);

  // Reads the next second of the recording. Returns true when all of it has been read. Throws FileError.
  bool read();
  // REQUIRES: read() has returned true.
  std::vector<SpeechSpan> spans();

 private:
  VoiceActivityOptions options_;
  VoiceActivityDetector detector_;
  Recording::Read read_;
  std::vector<float> piece_, probabilities_;
  std::uint64_t samples_ = 0;
};

// Only these samples of a recording, joined, read as they are asked for; where it ends before them so does this one.
// The spans are in order, without overlaps.
Recording speech_of(Recording recording, std::vector<SpeechSpan> spans);

}  // namespace encdec
