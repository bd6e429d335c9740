#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "encdec/models/speech/transcript/transcript.h"

namespace encdec {

// How subtitles are broken into lines (openai/whisper utils.py). All of it is about the words of segments; numbers
// below 1 stand for none.
struct TranscriptLineOptions {
  // Whether segments come with words, also where they have none. format() finds out by itself.
  bool word_times = false;
  // A subtitle for each word, which is underlined.
  bool highlight_words = false;
  // Characters. With a line count, subtitles do not end with segments, but where the lines are full or speech pauses
  // for more than 3 seconds.
  std::optional<int> max_line_width = std::nullopt;
  std::optional<int> max_line_count = std::nullopt;  // lines of a subtitle
  // No effect where the two above are given.
  std::optional<int> max_words_per_line = std::nullopt;
};

// What is to be seen from `start` to `end`, in milliseconds of the recording.
struct Subtitle {
  std::int64_t start = 0;  // from when on
  std::int64_t end = 0;    // until when
  std::string text = {};   // lines are parted by \n
};

// Makes subtitles of segments as they come.
class SubtitleMaker {
 public:
  // Without segments.
  explicit SubtitleMaker(const TranscriptLineOptions& options);

  // Subtitles that this segment makes certain.
  std::vector<Subtitle> add(const TranscriptSegment& segment);
  // The rest: no segment comes behind.
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
  std::vector<TranscriptWord> words_;  // of the subtitle that is not yet certain
  std::size_t line_width_ = 0;         // of its last line
  std::size_t lines_ = 1;
  std::optional<double> last_start_;  // of the word before, in seconds
};

// Milliseconds to the nearest, of a tie the even; 0 of what is negative or no number.
std::int64_t to_milliseconds(double seconds);

}  // namespace encdec
