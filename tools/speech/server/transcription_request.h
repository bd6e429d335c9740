#pragma once

#include <encdec/speech/transcript/transcript_format.h>
#include <encdec/speech/transcription/recording.h>
#include <encdec/speech/transcription/transcribe_options.h>

#include <cstdint>

#include "server/parameters.h"

namespace encdec::serve {

// Functions that read requests for transcription. All throw HttpError, 400, unless another status is given.

// The values of "response_format".
enum class AnswerFormat : std::uint8_t { json, text, srt, vtt, verbose_json };
AnswerFormat read_answer_format(const Parameters& parameters);

// Reads the parameters of a multipart form. Throws HttpError, 415, for a body of another type.
Parameters read_form(const Call& call);
// Takes the recording from the file "file" of a form. Throws HttpError: 400 for a file that is not a recording, 413 for
// a recording longer than the limit. Reading the samples throws 413 at the limit too, because a file may declare a
// shorter length than it has.
Recording read_recording(const Call& call, Parameters& parameters);

// Reads transcription options by the names of three APIs:
// - OpenAI's API,
// - openai/whisper, which faster-whisper and its servers follow,
// - whisper.cpp.
// Ignores unknown parameters, as all three do.
TranscribeOptions read_transcribe_options(const Call& call, const Parameters& parameters);

// Reads how subtitles are broken into lines, by the names of openai/whisper.
TranscriptLineOptions read_line_options(const Parameters& parameters, const TranscribeOptions& options);

}  // namespace encdec::serve
