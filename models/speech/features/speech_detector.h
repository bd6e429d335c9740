#pragma once

#include <memory>
#include <span>
#include <vector>

#include "encdec/models/speech/features/voice_activity.h"

namespace encdec {

// A detector of speech in one recording, piece by piece. Gives the probability of speech in each window of
// VoiceActivity::kWindow samples. Results do not depend on the sizes of the pieces.
// Order of calls: push* finish
class SpeechDetector {
 public:
  virtual ~SpeechDetector() = default;

  // Adds samples, and appends the probability of each window that is complete now.
  virtual void push(std::span<const float> samples, std::vector<float>& probabilities) = 0;
  // Pads an incomplete last window with silence and appends its probability.
  virtual void finish(std::vector<float>& probabilities) = 0;
};

// Returns a detector that uses a model or, if `model` is null, compares the loudness of each window with that of the
// quietest window of the last three seconds: a difference of 12 dB is a probability of 0.5. Without a model, music
// and sudden noise count as speech.
std::unique_ptr<SpeechDetector> make_speech_detector(std::shared_ptr<const VoiceActivity> model);

}  // namespace encdec
