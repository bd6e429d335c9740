#pragma once

#include "encdec/models/speech/transcription/recording_transcriber.h"
#include "encdec/models/speech/transcription/transcribe_stream.h"

namespace encdec {

// Transcribes all recordings of a stream. Windows of different recordings are decoded together; the result of a
// recording does not depend on the others. Throws as SpeechModel::transcribe().
void transcribe(const ModelParts& parts, const WhisperFacts& facts, const TranscribeOptions& options,
                TranscribeStream& stream);

}  // namespace encdec
