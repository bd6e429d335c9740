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

// Files are bitwise identical to the files of openai/whisper (utils.py), except as noted.
enum class TranscriptFormat : std::uint8_t {
  txt,   // one line per segment
  vtt,   // WebVTT
  srt,   // SubRip
  tsv,   // one line per segment: start and end in milliseconds, text
  json,  // all fields; UTF-8 instead of ASCII, null instead of NaN and infinity
  lrc,   // lyrics, as in whisper.cpp: one line per segment, with the start time
};

// The name of a format is also the extension of its files.
inline constexpr std::array kTranscriptFormats = {
    Named{TranscriptFormat::txt, "txt"}, Named{TranscriptFormat::vtt, "vtt"},   Named{TranscriptFormat::srt, "srt"},
    Named{TranscriptFormat::tsv, "tsv"}, Named{TranscriptFormat::json, "json"}, Named{TranscriptFormat::lrc, "lrc"},
};

// How to split segments with words into subtitles (openai/whisper utils.py). A maximum below 1 means no limit.
struct TranscriptLineOptions {
  // Whether the transcript has word times, even if some segments have no words. format() sets this option.
  bool word_times = false;
  // Whether to write a subtitle for each word, with this word underlined.
  bool highlight_words = false;
  // Maximum characters of a line. With max_line_count, a subtitle may span segments: it ends when
  // its lines are full or at a pause of more than 3 seconds.
  std::optional<int> max_line_width = std::nullopt;
  // Maximum lines of a subtitle.
  std::optional<int> max_line_count = std::nullopt;
  // Maximum words of a subtitle. Ignored if both options above are set.
  std::optional<int> max_words_per_line = std::nullopt;
};

// Writes segments one by one. All returned strings together are the file. For JSON, only end() returns text.
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
  bool ends_with_segments_;  // whether each subtitle ends with its segment
  std::size_t max_line_width_;
  std::optional<std::size_t> max_line_count_;
  std::size_t max_words_;              // maximum words of a subtitle
  std::vector<TranscriptWord> words_;  // words of the current subtitle
  std::size_t line_width_ = 0;         // number of characters in the current line
  std::size_t lines_ = 1;              // number of lines in the current subtitle
  std::optional<double> last_start_;   // start of the previous word, in seconds
  std::size_t written_ = 0;            // number of subtitles written
  std::string json_segments_;
};

std::string format(const Transcript& transcript, TranscriptFormat format, TranscriptLineOptions options = {});

enum class SegmentWords : std::uint8_t { none, with_probabilities };
// Returns a segment with openai/whisper's keys. Replaces invalid UTF-8.
nlohmann::ordered_json segment_json(const TranscriptSegment& segment, SegmentWords words);

// Formats JSON like Python's json.dumps(value, ensure_ascii=False), but writes null for NaN and infinity.
std::string python_text(const nlohmann::ordered_json& json);

}  // namespace encdec
