#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "encdec/engine/base/named_values.h"
#include "encdec/models/speech/transcript/subtitles.h"
#include "encdec/models/speech/transcript/transcript.h"

namespace encdec {

// File format of a transcript, byte for byte as openai/whisper writes it (utils.py); lrc as whisper.cpp writes it.
enum class TranscriptFormat : std::uint8_t {
  txt,   // one line per segment
  vtt,   // WebVTT
  srt,   // SubRip
  tsv,   // one line per segment: start and end in milliseconds, text
  json,  // all members of the segments; unlike openai's in UTF-8 instead of ASCII, and with null for NaN and infinity
  lrc,   // lyrics: one line per segment, with its start
};

// The formats. The name of a format is also the extension of its files.
inline constexpr std::array kTranscriptFormats = {
    Named{TranscriptFormat::txt, "txt"}, Named{TranscriptFormat::vtt, "vtt"},   Named{TranscriptFormat::srt, "srt"},
    Named{TranscriptFormat::tsv, "tsv"}, Named{TranscriptFormat::json, "json"}, Named{TranscriptFormat::lrc, "lrc"},
};

// A writer of transcripts whose segments come one by one. The file is the concatenation of all returned strings. For
// JSON, begin() and add() return nothing, since the text of all segments comes first.
// Order of calls: begin add* end
class TranscriptWriter {
 public:
  explicit TranscriptWriter(TranscriptFormat format, const TranscriptLineOptions& options = {});

  std::string begin();
  std::string add(const TranscriptSegment& segment);
  // Ignores transcript.segments.
  std::string end(const Transcript& transcript);

 private:
  std::string written(const std::vector<Subtitle>& subtitles);

  TranscriptFormat format_;
  bool word_times_;
  SubtitleMaker subtitles_;
  std::size_t written_ = 0;    // number of subtitles written
  std::string json_segments_;  // JSON of the segments so far
};

// Returns a whole transcript in a format.
std::string format(const Transcript& transcript, TranscriptFormat format, TranscriptLineOptions options = {});

}  // namespace encdec
