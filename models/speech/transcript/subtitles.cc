#include "encdec/models/speech/transcript/subtitles.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "encdec/models/tokenizer/base/utf8.h"

namespace encdec {
namespace {

constexpr std::size_t kAnyWidth = 1000;    // characters of a line without a limit, as in openai/whisper
constexpr std::size_t kAnyWords = 1000;    // words of a subtitle without a limit, as in openai/whisper
constexpr double kLongPauseSeconds = 3.0;  // between the starts of two words

std::optional<std::size_t> positive(std::optional<int> value) {
  if (value.value_or(0) <= 0) return std::nullopt;
  return static_cast<std::size_t>(*value);
}

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char byte) { return !is_continuation(byte); }));
}

// Returns a word with <u> and </u> around it, inside leading blanks and a final line end. A word with a line end inside
// is returned unchanged.
std::string underlined(std::string_view word) {
  const std::string_view rest = strip_left(word);
  const std::string_view line = rest.substr(0, rest.ends_with('\n') ? rest.size() - 1 : rest.size());
  if (line.find('\n') != line.npos) return std::string(word);
  std::string result(word.substr(0, word.size() - rest.size()));
  return result.append("<u>").append(line).append("</u>").append(rest.substr(line.size()));
}

// Returns the words as text, with the word at index `marked` underlined if it exists.
std::string text_of(const std::vector<TranscriptWord>& words, std::size_t marked) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) text += i == marked ? underlined(words[i].text) : words[i].text;
  return text;
}

}  // namespace

std::int64_t to_milliseconds(double seconds) {
  return std::llrint(std::max(0.0, seconds) * 1000.0);
}

SubtitleMaker::SubtitleMaker(const TranscriptLineOptions& options)
    : word_times_(options.word_times),
      highlight_words_(options.highlight_words),
      ends_with_segments_(!positive(options.max_line_count) || !positive(options.max_line_width)),
      max_line_width_(positive(options.max_line_width).value_or(kAnyWidth)),
      max_line_count_(positive(options.max_line_count)),
      max_words_(positive(options.max_words_per_line).value_or(kAnyWords)) {}

std::vector<Subtitle> SubtitleMaker::add(const TranscriptSegment& segment) {
  std::vector<Subtitle> subtitles;
  if (word_times_) {
    for (std::size_t i = 0; i < segment.words.size(); ++i) add_word(segment.words[i], i % max_words_ == 0, subtitles);
    return subtitles;
  }
  std::string text(strip(replace_invalid_utf8(segment.text)));
  // The text must not contain the arrow that separates the two times of a subtitle.
  for (std::size_t at = 0; (at = text.find("-->", at)) != text.npos; at += 2) text.replace(at, 3, "->");
  subtitles.push_back({to_milliseconds(segment.start), to_milliseconds(segment.end), std::move(text)});
  return subtitles;
}

std::vector<Subtitle> SubtitleMaker::finish() {
  std::vector<Subtitle> subtitles;
  end_subtitle(subtitles);
  return subtitles;
}

void SubtitleMaker::add_word(const TranscriptWord& given, bool begins_part, std::vector<Subtitle>& subtitles) {
  TranscriptWord word = given;
  word.text = replace_invalid_utf8(given.text);
  const bool is_late = !ends_with_segments_ && word.start - last_start_.value_or(word.start) > kLongPauseSeconds;
  const bool must_end = begins_part && !words_.empty() && ends_with_segments_;
  last_start_ = word.start;
  if (line_width_ > 0 && line_width_ + width_of(word.text) <= max_line_width_ && !is_late && !must_end) {
    line_width_ += width_of(word.text);
    words_.push_back(std::move(word));
    return;
  }
  word.text = std::string(strip(word.text));
  const std::size_t width = width_of(word.text);
  const bool is_full = max_line_count_ && (is_late || lines_ >= *max_line_count_);
  if (must_end || (is_full && !words_.empty())) {
    end_subtitle(subtitles);
  } else if (line_width_ > 0) {
    ++lines_;
    word.text.insert(0, 1, '\n');
  }
  line_width_ = width;
  words_.push_back(std::move(word));
}

void SubtitleMaker::end_subtitle(std::vector<Subtitle>& subtitles) {
  if (words_.empty()) return;
  const std::int64_t start = to_milliseconds(words_.front().start), end = to_milliseconds(words_.back().end);
  const std::string text = text_of(words_, words_.size());
  if (!highlight_words_) {
    subtitles.push_back({start, end, text});
  } else {
    std::int64_t last = start;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const std::int64_t word_start = to_milliseconds(words_[i].start), word_end = to_milliseconds(words_[i].end);
      if (last != word_start) subtitles.push_back({last, word_start, text});
      subtitles.push_back({word_start, word_end, text_of(words_, i)});
      last = word_end;
    }
  }
  words_.clear();
  lines_ = 1;
}

}  // namespace encdec
