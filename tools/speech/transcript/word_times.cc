#include "encdec/speech/transcript/word_times.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <string_view>

#include "encdec/models/tokenizer/base/utf8.h"

namespace encdec {
namespace {

// Constants of openai/whisper (timing.py, add_word_timestamps).
constexpr double kLargestMedian = 0.7;  // maximum of median_duration(), in seconds
constexpr double kReach = 0.5;          // how far, in seconds, a word may lie outside its segment
constexpr std::string_view kSentenceEnds = ".。!！?？";

// Returns true if `text` contains `part`. Like Python's `in`, returns true for an empty `part`.
bool is_in(std::string_view part, std::string_view text) {
  return text.find(part) != text.npos;
}

double to_hundredths(double seconds) {
  return std::nearbyint(seconds * 100) / 100;
}

// Returns the median of all durations other than 0, but at most kLargestMedian. Returns 0 if all durations are 0.
double median_duration(std::span<const WordTiming> words) {
  std::vector<double> all;
  for (const WordTiming& word : words) {
    if (word.end - word.start != 0) all.push_back(word.end - word.start);
  }
  if (all.empty()) return 0;
  std::ranges::sort(all);
  const std::size_t middle = all.size() / 2;
  return std::min(kLargestMedian, all.size() % 2 == 1 ? all[middle] : (all[middle - 1] + all[middle]) / 2);
}

// If a sentence-end mark is too long, moves the end of the mark. If a word after such a mark is too long, moves the
// start of the word.
void shorten_at_sentence_ends(std::span<WordTiming> words, double longest) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i].end - words[i].start <= longest) continue;
    if (is_in(words[i].text, kSentenceEnds)) {
      words[i].end = words[i].start + longest;
    } else if (is_in(words[i - 1].text, kSentenceEnds)) {
      words[i].start = words[i].end - longest;
    }
  }
}

// If the first two words follow a pause, shortens each of them to at most twice the median.
void shorten_after_pause(std::span<TranscriptWord> words, double median, double last_speech) {
  const double longest = 2 * median;
  TranscriptWord& first = words.front();
  const bool has_second = words.size() > 1;
  const bool is_long = first.end - first.start > longest || (has_second && words[1].end - first.start > 2 * longest);
  if (first.end - last_speech <= 4 * median || !is_long) return;
  if (has_second && words[1].end - words[1].start > longest) {
    const double border = std::max(words[1].end / 2, words[1].end - longest);
    first.end = border;
    words[1].start = border;
  }
  first.start = std::max(0.0, first.end - longest);
}

// Sets the start of the segment to the start of its first word, and the end to the end of its last word.
// But if the word lies outside the segment by more than kReach, shortens the word.
void fit_ends(TranscriptSegment& segment, double median) {
  TranscriptWord& first = segment.words.front();
  TranscriptWord& last = segment.words.back();
  if (segment.start < first.end && segment.start - kReach > first.start) {
    first.start = std::max(0.0, std::min(first.end - median, segment.start));
  } else {
    segment.start = first.start;
  }
  if (segment.end > last.start && segment.end + kReach < last.end) {
    last.end = std::max(last.start + median, segment.end);
  } else {
    segment.end = last.end;
  }
}

}  // namespace

void merge_punctuations(std::span<WordTiming> words, const std::string& prepend, const std::string& append) {
  const auto take = [](std::vector<std::int32_t>& to, std::vector<std::int32_t>& from, auto position) {
    to.insert(position, from.begin(), from.end());
    from.clear();
  };
  if (words.empty()) return;
  // From the last word to the first, move marks such as an opening bracket to the next word.
  for (std::size_t i = words.size() - 1, next = i; i-- > 0;) {
    WordTiming &word = words[i], &following = words[next];
    if (!word.text.starts_with(' ') || !is_in(strip(word.text), prepend)) {
      next = i;
      continue;
    }
    following.text.insert(0, word.text);
    word.text.clear();
    take(following.tokens, word.tokens, following.tokens.begin());
  }
  // From the first word to the last, move marks such as a comma to the previous word.
  for (std::size_t i = 1, previous = 0; i < words.size(); ++i) {
    WordTiming &word = words[i], &before = words[previous];
    if (before.text.ends_with(' ') || !is_in(word.text, append)) {
      previous = i;
      continue;
    }
    before.text += word.text;
    word.text.clear();
    take(before.tokens, word.tokens, before.tokens.end());
  }
}

std::vector<std::int32_t> text_tokens(std::span<const TranscriptSegment> segments, std::int32_t end_of_text) {
  std::vector<std::int32_t> text;
  for (const TranscriptSegment& segment : segments) {
    std::ranges::copy_if(segment.tokens, std::back_inserter(text), [&](auto token) { return token < end_of_text; });
  }
  return text;
}

void add_word_timestamps(std::span<TranscriptSegment> segments, std::vector<WordTiming> words,
                         const WordTimeOptions& options) {
  if (segments.empty()) return;
  const double median = median_duration(words);
  shorten_at_sentence_ends(words, 2 * median);
  merge_punctuations(words, options.prepend_punctuations, options.append_punctuations);
  // Distribute the words to the segments, by counting tokens.
  const double window_start = static_cast<double>(segments.front().seek) / 100;
  double last_speech = options.last_speech;
  auto word = words.begin();
  for (TranscriptSegment& segment : segments) {
    const std::size_t tokens = text_tokens({&segment, 1}, options.end_of_text).size();
    segment.words.clear();
    for (std::size_t taken = 0; taken < tokens && word != words.end(); ++word) {
      taken += word->tokens.size();
      if (word->text.empty()) continue;  // a mark that was merged into another word
      segment.words.push_back({word->text, to_hundredths(std::max(0.0, window_start + word->start)),
                               to_hundredths(std::max(0.0, window_start + word->end)), word->probability});
    }
    if (segment.words.empty()) continue;
    shorten_after_pause(segment.words, median, last_speech);
    fit_ends(segment, median);
    last_speech = segment.end;
  }
}

std::optional<double> speech_end(std::span<const TranscriptSegment> segments) {
  for (std::size_t i = segments.size(); i-- > 0;) {
    if (!segments[i].words.empty()) return segments[i].words.back().end;
  }
  if (segments.empty()) return std::nullopt;
  return segments.back().end;
}

}  // namespace encdec
