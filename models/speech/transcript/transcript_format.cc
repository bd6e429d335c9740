#include "encdec/models/speech/transcript/transcript_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "encdec/models/speech/transcript/segment_json.h"
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
  const SegmentWords words = word_times_ ? SegmentWords::with_probabilities : SegmentWords::none;
  json_segments_.append(json_segments_.empty() ? "" : ", ").append(python_text(segment_json(segment, words)));
  return "";
}

std::string TranscriptWriter::end(const Transcript& transcript) {
  if (format_ != TranscriptFormat::json) return written(subtitles_.finish());
  return fmt::format(R"({{"text": {}, "segments": [{}], "language": {}}})",
                     python_text(replace_invalid_utf8(transcript.text)), json_segments_,
                     python_text(replace_invalid_utf8(transcript.language)));
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
