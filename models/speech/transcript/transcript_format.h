#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/speech/transcript/subtitles.h"
#include "encdec/models/speech/transcript/transcript.h"

namespace encdec {

// How a transcript is written down: byte for byte as openai/whisper does it (utils.py), lrc as whisper.cpp.
enum class TranscriptFormat : std::uint8_t {
  txt,   // a line for each segment
  vtt,   // WebVTT
  srt,   // SubRip
  tsv,   // start and end in milliseconds, text
  json,  // all that is known of the segments; other than openai's, not only ASCII, and null for what is not a number
  lrc,   // lyrics: a time and a line for each segment
};

// Also what a file's name ends with: "txt", "vtt", ...
std::string_view to_string(TranscriptFormat format);
std::optional<TranscriptFormat> transcript_format_named(std::string_view name);

// Writes a transcript while it is made: what begin(), add() for each segment, and end() give, one after another, is its
// text. JSON, which has the whole text in front, comes at the end.
class TranscriptWriter {
 public:
  // For a transcript that has not begun.
  explicit TranscriptWriter(TranscriptFormat format, const TranscriptLineOptions& options = {});

  std::string begin();                                // before the first segment
  std::string add(const TranscriptSegment& segment);  // as it becomes certain
  // `transcript` tells what is not of a segment: its segments are not looked at.
  std::string end(const Transcript& transcript);

 private:
  std::string written(const std::vector<Subtitle>& subtitles);

  TranscriptFormat format_;
  bool word_times_;
  SubtitleMaker subtitles_;
  std::size_t written_ = 0;    // subtitles
  std::string json_segments_;  // until the end
};

// All of it at once.
std::string format(const Transcript& transcript, TranscriptFormat format, TranscriptLineOptions options = {});

}  // namespace encdec
