#pragma once

#include <memory>

#include "encdec/models/speech/features/voice_activity.h"

namespace encdec {

// Returns a detector that uses a model or, if `model` is null, compares the loudness of each window with that of the
// quietest window of the last three seconds: a difference of 12 dB is a probability of 0.5. Without a model, music
// and sudden noise count as speech.
std::unique_ptr<SpeechDetector> make_speech_detector(std::shared_ptr<const VoiceActivity> model);

}  // namespace encdec
