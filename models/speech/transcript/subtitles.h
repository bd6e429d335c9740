#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "encdec/models/speech/transcript/transcript.h"

namespace encdec {

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

// Text to show from `start` to `end`, in milliseconds of the recording.
struct Subtitle {
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::string text = {};  // lines are separated by \n
};

// A converter from segments to subtitles.
// Order of calls: add* finish
class SubtitleMaker {
 public:
  explicit SubtitleMaker(const TranscriptLineOptions& options);

  // Adds a segment and returns the subtitles that are complete now.
  std::vector<Subtitle> add(const TranscriptSegment& segment);
  // Returns the last subtitle, if there is one.
  std::vector<Subtitle> finish();

 private:
  void add_word(const TranscriptWord& word, bool begins_part, std::vector<Subtitle>& subtitles);
  void end_subtitle(std::vector<Subtitle>& subtitles);

  bool word_times_;
  bool highlight_words_;
  bool ends_with_segments_;
  std::size_t max_line_width_;
  std::optional<std::size_t> max_line_count_;
  std::size_t max_words_;
  std::vector<TranscriptWord> words_;  // words of the current subtitle
  std::size_t line_width_ = 0;         // characters of its last line
  std::size_t lines_ = 1;              // number of its lines
  std::optional<double> last_start_;   // start of the previous word, in seconds
};

// Returns the nearest number of milliseconds; of two equally near ones the even. Returns 0 for negative numbers and
// NaN.
std::int64_t to_milliseconds(double seconds);

}  // namespace encdec
