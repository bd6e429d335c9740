#pragma once

#include "encdec/models/speech/transcription/recording_transcriber.h"
#include "encdec/models/speech/transcription/transcribe_stream.h"

namespace encdec {

// Transcribes all recordings of a stream, several side by side: windows of different ones are decoded together, and
// each recording keeps all rules of its own. Throws as SpeechModel::transcribe().
void transcribe(const ModelParts& parts, const WhisperFacts& facts, const TranscribeOptions& options,
                TranscribeStream& stream);

}  // namespace encdec
