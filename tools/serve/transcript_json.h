#pragma once

#include <encdec/models/speech/transcript/segment_json.h>
#include <encdec/models/speech/transcript/transcript_format.h>

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "serve/http/message.h"

namespace encdec::serve {

// Returns a list of segments, each as segment_json() gives it.
nlohmann::ordered_json segments_json(std::span<const TranscriptSegment> segments, SegmentWords words);
// Returns the words of all segments with the keys of OpenAI's API, without white space around each word.
nlohmann::ordered_json words_json(std::span<const TranscriptSegment> segments);

// Returns the text of a transcript without white space around it.
std::string text_of(const Transcript& transcript);
// Returns subtitles. REQUIRES: `format` is srt or vtt.
HttpResponse subtitles_of(const Transcript& transcript, TranscriptFormat format, const TranscriptLineOptions& lines);
// Returns the English name of the language in lower case, for example "english"; its code if it has no name.
std::string spoken_language(const Transcript& transcript);

}  // namespace encdec::serve
