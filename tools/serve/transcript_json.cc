#include "serve/transcript_json.h"

#include <encdec/models/checkpoint/whisper_format.h>
#include <encdec/models/tokenizer/base/lower_case.h>
#include <encdec/models/tokenizer/base/utf8.h>

#include <nlohmann/json.hpp>

#include "serve/http/form.h"

namespace encdec::serve {

nlohmann::ordered_json segments_json(std::span<const TranscriptSegment> segments, SegmentWords words) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const TranscriptSegment& segment : segments) list.push_back(segment_json(segment, words));
  return list;
}

nlohmann::ordered_json words_json(std::span<const TranscriptSegment> segments) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const TranscriptSegment& segment : segments) {
    for (const TranscriptWord& word : segment.words) {
      list.push_back({{"word", strip(replace_invalid_utf8(word.text))}, {"start", word.start}, {"end", word.end}});
    }
  }
  return list;
}

std::string text_of(const Transcript& transcript) {
  return std::string(strip(replace_invalid_utf8(transcript.text)));
}

HttpResponse subtitles_of(const Transcript& transcript, TranscriptFormat format, const TranscriptLineOptions& lines) {
  return {.body = encdec::format(transcript, format, lines),
          .content_type =
              format == TranscriptFormat::srt ? "application/x-subrip; charset=utf-8" : "text/vtt; charset=utf-8"};
}

std::string spoken_language(const Transcript& transcript) {
  const std::string_view name = whisper_language_name(transcript.language);
  return name.empty() ? transcript.language : lower_case(name);
}

}  // namespace encdec::serve
