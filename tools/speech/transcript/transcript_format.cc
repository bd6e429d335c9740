#include "encdec/speech/transcript/transcript_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "encdec/models/tokenizer/base/utf8.h"

namespace encdec {
namespace {

// Constants of openai/whisper (utils.py, SubtitlesWriter).
constexpr std::size_t kAnyWidth = 1000;    // maximum number of characters in a line if no limit is set
constexpr std::size_t kAnyWords = 1000;    // maximum number of words in a subtitle if no limit is set
constexpr double kLongPauseSeconds = 3.0;  // minimum seconds between the starts of two words

// Returns nullopt for a number below 1.
std::optional<std::size_t> positive(std::optional<int> value) {
  if (value.value_or(0) <= 0) return std::nullopt;
  return static_cast<std::size_t>(*value);
}

// Returns the number of UTF-8 characters, by counting all bytes except continuation bytes.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char byte) { return !is_continuation(byte); }));
}

// Returns a word inside <u> and </u>. Leading white space and a final line end stay outside.
std::string underlined(std::string_view word) {
  const std::string_view rest = strip_left(word);
  const std::string_view line = rest.substr(0, rest.ends_with('\n') ? rest.size() - 1 : rest.size());
  if (line.find('\n') != line.npos) return std::string(word);
  std::string result(word.substr(0, word.size() - rest.size()));
  return result.append("<u>").append(line).append("</u>").append(rest.substr(line.size()));
}

// Returns the words as text. Underlines the word with the index `marked`, unless the index is out of range.
std::string text_of(const std::vector<TranscriptWord>& words, std::size_t marked) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) text += i == marked ? underlined(words[i].text) : words[i].text;
  return text;
}

// Rounds to milliseconds and, like Python, rounds ties to even. Returns 0 for negative numbers and NaN.
std::int64_t to_milliseconds(double seconds) {
  return std::llrint(std::max(0.0, seconds) * 1000.0);
}

std::string stripped(const std::string& text) {
  return std::string(strip(replace_invalid_utf8(text)));
}

// Returns hours, minutes, seconds, `marker` and milliseconds. Omits 0 hours unless `always_hours` is true.
std::string timestamp(std::int64_t milliseconds, char marker, bool always_hours) {
  const std::int64_t seconds = milliseconds / 1000, hours = seconds / 3600;
  const std::string front = always_hours || hours > 0 ? fmt::format("{:02}:", hours) : "";
  return fmt::format("{}{:02}:{:02}{}{:03}", front, seconds / 60 % 60, seconds % 60, marker, milliseconds % 1000);
}

// Returns a line of an lrc file: the start time as [mm:ss.xx], then the text.
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

using Json = nlohmann::ordered_json;

template <class Fields, class Owner>
Json object_of(const Fields& fields, const Owner& owner);

template <class Value>
Json json_of(const Value& value) {
  return value;
}

Json json_of(const std::string& text) {
  return replace_invalid_utf8(text);
}

Json json_of(const std::vector<TranscriptWord>& words) {
  Json list = Json::array();
  for (const TranscriptWord& word : words) list.push_back(object_of(kWordFields, word));
  return list;
}

template <class Fields, class Owner>
Json object_of(const Fields& fields, const Owner& owner) {
  Json object = Json::object();
  for_each_field(fields, [&](const auto& field) { object[field.name] = json_of(owner.*field.member); });
  return object;
}

// Formats a number with as few digits as possible, like Python: 1.0, 1e-05, 1e+16. Returns "null" unless finite.
std::string python_number(double value) {
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

}  // namespace

TranscriptWriter::TranscriptWriter(TranscriptFormat format, const TranscriptLineOptions& options)
    : format_(format),
      word_times_(options.word_times),
      highlight_words_(options.highlight_words),
      ends_with_segments_(!positive(options.max_line_count) || !positive(options.max_line_width)),
      max_line_width_(positive(options.max_line_width).value_or(kAnyWidth)),
      max_line_count_(positive(options.max_line_count)),
      max_words_(positive(options.max_words_per_line).value_or(kAnyWords)) {}

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
    case TranscriptFormat::srt: return add_to_subtitles(segment);
    case TranscriptFormat::tsv: return table_line(segment);
    case TranscriptFormat::lrc: return lyrics_line(segment);
    case TranscriptFormat::json: break;
  }
  const SegmentWords words = word_times_ ? SegmentWords::with_probabilities : SegmentWords::none;
  json_segments_.append(json_segments_.empty() ? "" : ", ").append(python_text(segment_json(segment, words)));
  return "";
}

std::string TranscriptWriter::end(const Transcript& transcript) {
  if (format_ == TranscriptFormat::json) {
    return fmt::format(R"({{"text": {}, "segments": [{}], "language": {}}})",
                       python_text(replace_invalid_utf8(transcript.text)), json_segments_,
                       python_text(replace_invalid_utf8(transcript.language)));
  }
  std::string subtitles;
  end_subtitle(subtitles);
  return subtitles;
}

// Adds a segment. Returns the subtitles that are complete now.
std::string TranscriptWriter::add_to_subtitles(const TranscriptSegment& segment) {
  std::string subtitles;
  if (word_times_) {
    for (std::size_t i = 0; i < segment.words.size(); ++i) add_word(segment.words[i], i % max_words_ == 0, subtitles);
    return subtitles;
  }
  std::string text = stripped(segment.text);
  // Replace "-->" in the text, because this arrow separates the two times of a subtitle.
  for (std::size_t at = 0; (at = text.find("-->", at)) != text.npos; at += 2) text.replace(at, 3, "->");
  write_subtitle(to_milliseconds(segment.start), to_milliseconds(segment.end), text, subtitles);
  return subtitles;
}

// Adds a word to the current line or to a new line. If `begins_part` is true, a new subtitle may begin.
void TranscriptWriter::add_word(const TranscriptWord& given, bool begins_part, std::string& subtitles) {
  TranscriptWord word = given;
  word.text = replace_invalid_utf8(given.text);
  const bool is_late = !ends_with_segments_ && word.start - last_start_.value_or(word.start) > kLongPauseSeconds;
  const bool must_end = begins_part && !words_.empty() && ends_with_segments_;
  last_start_ = word.start;
  // If the word fits into the current line, append the word.
  if (line_width_ > 0 && line_width_ + width_of(word.text) <= max_line_width_ && !is_late && !must_end) {
    line_width_ += width_of(word.text);
    words_.push_back(std::move(word));
    return;
  }
  // Otherwise the word begins a line. End the subtitle if it is full, else insert a line break.
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

// Writes the current subtitle. With highlight_words_, writes it once for each word, and once for each gap.
void TranscriptWriter::end_subtitle(std::string& subtitles) {
  if (words_.empty()) return;
  const std::int64_t start = to_milliseconds(words_.front().start), end = to_milliseconds(words_.back().end);
  const std::string text = text_of(words_, words_.size());
  if (!highlight_words_) {
    write_subtitle(start, end, text, subtitles);
  } else {
    std::int64_t last = start;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const std::int64_t word_start = to_milliseconds(words_[i].start), word_end = to_milliseconds(words_[i].end);
      if (last != word_start) write_subtitle(last, word_start, text, subtitles);
      write_subtitle(word_start, word_end, text_of(words_, i), subtitles);
      last = word_end;
    }
  }
  words_.clear();
  lines_ = 1;
}

// Writes one subtitle. `start` and `end` are in milliseconds.
void TranscriptWriter::write_subtitle(std::int64_t start, std::int64_t end, std::string_view text,
                                      std::string& subtitles) {
  const bool is_srt = format_ == TranscriptFormat::srt;
  const char marker = is_srt ? ',' : '.';
  if (is_srt) subtitles += fmt::format("{}\n", ++written_);
  subtitles += fmt::format("{} --> {}\n{}\n\n", timestamp(start, marker, is_srt), timestamp(end, marker, is_srt), text);
}

std::string format(const Transcript& transcript, TranscriptFormat format, TranscriptLineOptions options) {
  options.word_times |= std::ranges::any_of(transcript.segments, [](const auto& s) { return !s.words.empty(); });
  TranscriptWriter writer(format, options);
  std::string text = writer.begin();
  for (const TranscriptSegment& segment : transcript.segments) text += writer.add(segment);
  return text += writer.end(transcript);
}

Json segment_json(const TranscriptSegment& segment, SegmentWords words) {
  Json json = object_of(kSegmentFields, segment);
  if (words == SegmentWords::none) json.erase("words");
  return json;
}

std::string python_text(const Json& json) {
  if (json.is_number_float()) return python_number(json.get<double>());
  if (!json.is_structured()) return json.dump();
  std::string text;
  for (const auto& [key, value] : json.items()) {
    if (!text.empty()) text += ", ";
    if (json.is_object()) text.append(Json(key).dump()).append(": ");
    text += python_text(value);
  }
  return json.is_object() ? "{" + text + "}" : "[" + text + "]";
}

}  // namespace encdec
