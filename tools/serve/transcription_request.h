#pragma once

#include <encdec/models/speech/transcript/subtitles.h>
#include <encdec/models/speech/transcription/recording.h>
#include <encdec/models/speech/transcription/transcribe_options.h>

#include <cstdint>

#include "serve/parameters.h"
#include "serve/settings.h"

namespace encdec::serve {

// What protocols of speech have in common. All throw HttpError, 400.

// As "response_format" says it.
enum class AnswerFormat : std::uint8_t { json, text, srt, vtt, verbose_json };
AnswerFormat read_answer_format(const Parameters& parameters);

// Those of a multipart form.
Parameters read_form(const Call& call);
// Its file, as "file". What is no recording is refused at once; one that is longer than the limit, at the latest when
// that much has been read: it may say less of itself.
Recording read_recording(Parameters& parameters, const ServiceLimits& limits);

// How to transcribe: the names of OpenAI's API; of openai/whisper, and so of faster-whisper and the servers around it;
// and of whisper.cpp. What none of them knows is not looked at, as by all of these.
TranscribeOptions read_transcribe_options(const Parameters& parameters, const ServeSettings& settings);

// How subtitles are broken into lines, by openai/whisper's names.
TranscriptLineOptions read_line_options(const Parameters& parameters, const TranscribeOptions& options);

}  // namespace encdec::serve
