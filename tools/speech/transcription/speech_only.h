#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "encdec/speech/features/speech_spans.h"
#include "encdec/speech/features/voice_activity.h"
#include "encdec/speech/transcription/recording.h"

namespace encdec {

// Finds the speech in a recording, in one pass. Uses 4 bytes of memory for each 32 ms.
// Order of calls: read+ spans
class SpeechFinder {
 public:
  // If `model` is null, compares loudness; see make_speech_detector(). Throws FileError.
  SpeechFinder(const Recording& recording, const std::shared_ptr<const VoiceActivity>& model,
               const VoiceActivityOptions& options);

  // Reads about one more second. Returns true at the end of the recording. Throws FileError.
  bool read();
  std::vector<SpeechSpan> spans();

 private:
  VoiceActivityOptions options_;
  std::unique_ptr<SpeechDetector> detector_;
  Recording::Read read_;
  std::vector<float> chunk_, probabilities_;
  std::uint64_t samples_ = 0;
};

// Returns a recording that consists of the given spans. Reads `recording` on demand. If `recording` ends early, the
// result ends early, too. REQUIRES: spans are in order and do not overlap.
Recording speech_of(Recording recording, std::vector<SpeechSpan> spans);

}  // namespace encdec
