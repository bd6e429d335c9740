#pragma once

#include <encdec/models/checkpoint/written_json_fwd.h>
#include <encdec/models/speech/transcript/transcript_format.h>

#include <cstdint>
#include <span>
#include <string>

#include "serve/http/message.h"

namespace encdec::serve {

// Transcripts as protocols of speech tell them: segments by openai/whisper's keys, with their words or without.
enum class SegmentWords : std::uint8_t { none, with_probabilities };
WrittenJson segments_json(std::span<const TranscriptSegment> segments, SegmentWords words);
// Those of all segments, by OpenAI's keys: without the space before them.
WrittenJson words_json(std::span<const TranscriptSegment> segments);

// Without white space around it.
std::string text_of(const Transcript& transcript);
// As subtitles: of srt or vtt.
HttpResponse subtitles_of(const Transcript& transcript, TranscriptFormat format, const TranscriptLineOptions& lines);
// "english"; the code where no name is known.
std::string spoken_language(const Transcript& transcript);

}  // namespace encdec::serve
