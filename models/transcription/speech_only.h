#pragma once

#include <memory>
#include <vector>

#include "encdec/models/speech/speech_spans.h"
#include "encdec/models/speech/voice_activity.h"
#include "encdec/models/transcription/recording.h"

namespace encdec {

// Where someone speaks in a recording, which is read once; of it 4 bytes for each 32 ms are kept meanwhile. Throws
// FileError and ConfigError.
std::vector<SpeechSpan> find_speech(const Recording& recording, const std::shared_ptr<const VoiceActivity>& model,
                                    const VoiceActivityOptions& options = {});

// Only these samples of a recording, joined, read as they are asked for; where it ends before them so does this one.
// The spans are in order, without overlaps.
Recording speech_of(Recording recording, std::vector<SpeechSpan> spans);

}  // namespace encdec
