#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/engine/base/named_values.h"
#include "encdec/speech/transcript/transcript.h"

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

// How subtitles are split into lines (openai/whisper utils.py). Has an effect only on segments with words. A number
// below 1 means no limit.
struct TranscriptLineOptions {
  // The transcript has word times, even if some segments have no words. format() sets this itself.
  bool word_times = false;
  // Make a subtitle for each word, with that word underlined.
  bool highlight_words = false;
  // Maximum characters of a line. With max_line_count set too, subtitles do not end with segments: they end when the
  // lines are full or speech pauses for more than 3 seconds.
  std::optional<int> max_line_width = std::nullopt;
  // Maximum lines of a subtitle.
  std::optional<int> max_line_count = std::nullopt;
  // Maximum words of a subtitle. Ignored if max_line_width and max_line_count are both set.
  std::optional<int> max_words_per_line = std::nullopt;
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
  std::string add_to_subtitles(const TranscriptSegment& segment);
  void add_word(const TranscriptWord& word, bool begins_part, std::string& subtitles);
  void end_subtitle(std::string& subtitles);
  void write_subtitle(std::int64_t start, std::int64_t end, std::string_view text, std::string& subtitles);

  TranscriptFormat format_;
  bool word_times_;
  bool highlight_words_;
  bool ends_with_segments_;  // subtitles do
  std::size_t max_line_width_;
  std::optional<std::size_t> max_line_count_;
  std::size_t max_words_;              // maximum number of words of a subtitle
  std::vector<TranscriptWord> words_;  // words of the current subtitle
  std::size_t line_width_ = 0;         // characters of its last line
  std::size_t lines_ = 1;              // number of its lines
  std::optional<double> last_start_;   // start of the previous word, in seconds
  std::size_t written_ = 0;            // number of subtitles written
  std::string json_segments_;          // JSON of the segments so far
};

// Returns a whole transcript in a format.
std::string format(const Transcript& transcript, TranscriptFormat format, TranscriptLineOptions options = {});

// Returns a segment with the keys of openai/whisper, with or without its words. Bytes that are not UTF-8 are replaced.
enum class SegmentWords : std::uint8_t { none, with_probabilities };
nlohmann::ordered_json segment_json(const TranscriptSegment& segment, SegmentWords words);

// Returns JSON as Python's json.dumps(value, ensure_ascii=False) writes it, except that NaN and infinity are null.
std::string python_text(const nlohmann::ordered_json& json);

}  // namespace encdec
