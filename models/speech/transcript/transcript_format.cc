#include "encdec/models/speech/transcript/transcript_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "encdec/models/tokenizer/base/utf8.h"

namespace encdec {
namespace {

std::string stripped(const std::string& text) {
  return std::string(strip(replace_invalid_utf8(text)));
}

// Returns mm:ss, `marker` and milliseconds. Hours come first if there are any, or if `always_hours`.
std::string timestamp(std::int64_t milliseconds, char marker, bool always_hours) {
  const std::int64_t seconds = milliseconds / 1000, hours = seconds / 3600;
  const std::string front = always_hours || hours > 0 ? fmt::format("{:02}:", hours) : "";
  return fmt::format("{}{:02}:{:02}{}{:03}", front, seconds / 60 % 60, seconds % 60, marker, milliseconds % 1000);
}

std::string lyrics_line(const TranscriptSegment& segment) {
  const std::int64_t hundredths = std::llrint(std::max(0.0, segment.start) * 100);
  return fmt::format("[{:02}:{:02}.{:02}]{}\n", hundredths / 6000, hundredths / 100 % 60, hundredths % 100,
                     replace_invalid_utf8(segment.text));
}

std::string table_line(const TranscriptSegment& segment) {
  std::string text = stripped(segment.text);
  std::ranges::replace(text, '\t', ' ');
  return fmt::format("{}\t{}\t{}\n", to_milliseconds(segment.start), to_milliseconds(segment.end), text);
}

// Returns the shortest digits that parse as the same number, as Python writes them: 1.0, 1e-05, 1e+16.
std::string json_number(double value) {
  if (!std::isfinite(value)) return "null";
  const double size = std::abs(value);
  const bool is_plain = size == 0 || (size >= 1e-4 && size < 1e16);
  char digits[32];
  const auto result = std::to_chars(std::begin(digits), std::end(digits), value,
                                    is_plain ? std::chars_format::fixed : std::chars_format::scientific);
  std::string text(std::begin(digits), result.ptr);
  if (is_plain && text.find('.') == text.npos) text += ".0";
  return text;
}

std::string json_string(const std::string& text) {
  return nlohmann::ordered_json(replace_invalid_utf8(text)).dump();
}

std::string json_word(const TranscriptWord& word) {
  return fmt::format(R"({{"word": {}, "start": {}, "end": {}, "probability": {}}})", json_string(word.text),
                     json_number(word.start), json_number(word.end), json_number(word.probability));
}

std::string json_segment(const TranscriptSegment& segment, bool word_times) {
  std::string json = fmt::format(
      R"({{"id": {}, "seek": {}, "start": {}, "end": {}, "text": {}, "tokens": [{}], "temperature": {}, )"
      R"("avg_logprob": {}, "compression_ratio": {}, "no_speech_prob": {})",
      segment.id, segment.seek, json_number(segment.start), json_number(segment.end), json_string(segment.text),
      fmt::join(segment.tokens, ", "), json_number(segment.temperature), json_number(segment.avg_logprob),
      json_number(segment.compression_ratio), json_number(segment.no_speech_prob));
  if (word_times) {
    std::string_view before = R"(, "words": [)";
    if (segment.words.empty()) json += before;
    for (const TranscriptWord& word : segment.words) {
      json.append(before).append(json_word(word));
      before = ", ";
    }
    json += ']';
  }
  return json += '}';
}

}  // namespace

TranscriptWriter::TranscriptWriter(TranscriptFormat format, const TranscriptLineOptions& options)
    : format_(format), word_times_(options.word_times), subtitles_(options) {}

std::string TranscriptWriter::begin() {
  switch (format_) {
    case TranscriptFormat::vtt: return "WEBVTT\n\n";
    case TranscriptFormat::tsv: return "start\tend\ttext\n";
    default: return "";
  }
}

std::string TranscriptWriter::add(const TranscriptSegment& segment) {
  switch (format_) {
    case TranscriptFormat::txt: return stripped(segment.text) + '\n';
    case TranscriptFormat::vtt:
    case TranscriptFormat::srt: return written(subtitles_.add(segment));
    case TranscriptFormat::tsv: return table_line(segment);
    case TranscriptFormat::lrc: return lyrics_line(segment);
    case TranscriptFormat::json: break;
  }
  json_segments_.append(json_segments_.empty() ? "" : ", ").append(json_segment(segment, word_times_));
  return "";
}

std::string TranscriptWriter::end(const Transcript& transcript) {
  if (format_ != TranscriptFormat::json) return written(subtitles_.finish());
  return fmt::format(R"({{"text": {}, "segments": [{}], "language": {}}})", json_string(transcript.text),
                     json_segments_, json_string(transcript.language));
}

std::string TranscriptWriter::written(const std::vector<Subtitle>& subtitles) {
  std::string text;
  const bool is_srt = format_ == TranscriptFormat::srt;
  const char marker = is_srt ? ',' : '.';
  for (const Subtitle& subtitle : subtitles) {
    if (is_srt) text += fmt::format("{}\n", ++written_);
    text += fmt::format("{} --> {}\n{}\n\n", timestamp(subtitle.start, marker, is_srt),
                        timestamp(subtitle.end, marker, is_srt), subtitle.text);
  }
  return text;
}

std::string format(const Transcript& transcript, TranscriptFormat format, TranscriptLineOptions options) {
  options.word_times |= std::ranges::any_of(transcript.segments, [](const auto& s) { return !s.words.empty(); });
  TranscriptWriter writer(format, options);
  std::string text = writer.begin();
  for (const TranscriptSegment& segment : transcript.segments) text += writer.add(segment);
  return text += writer.end(transcript);
}

}  // namespace encdec
