#include "encdec/speech/transcript/alignment_format.h"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string_view>
#include <tuple>
#include <utility>

#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/speech/transcript/transcript_format.h"

namespace encdec {
namespace {

using Json = nlohmann::ordered_json;

// A tier of a TextGrid (Praat manual, "TextGrid file formats"): intervals without gaps.
struct Tier {
  std::string intervals = {};
  std::size_t count = 0;
  double end = 0;

  // Appends the interval from `end` to `until`, unless it is empty or `until` is NaN. Doubles quotation marks.
  void add(double until, std::string_view text) {
    if (std::isnan(until) || until <= end) return;
    intervals +=
        fmt::format("        intervals [{}]:\n            xmin = {}\n            xmax = {}\n", ++count, end, until);
    intervals += "            text = \"";
    for (const char c : strip(text)) intervals.append(c == '"' ? 2 : 1, c);
    intervals += "\"\n";
    end = until;
  }
};

std::string text_grid(const Transcript& alignment) {
  // Fill both tiers. Gaps become intervals with empty text.
  Tier words, lines;
  for (const TranscriptSegment& line : alignment.segments) {
    for (const TranscriptWord& word : line.words) {
      words.add(word.start, "");
      words.add(word.end, word.text);
    }
    lines.add(line.start, "");
    lines.add(line.end, line.text);
  }
  std::string text = fmt::format(
      "File type = \"ooTextFile\"\nObject class = \"TextGrid\"\n\nxmin = 0\nxmax = {}\ntiers? <exists>\nsize = 2\n"
      "item []:\n",
      alignment.duration);
  for (const auto& [number, name, tier] : {std::tuple(1, "words", &words), {2, "lines", &lines}}) {
    tier->add(alignment.duration, "");
    text += fmt::format(
        "    item [{}]:\n        class = \"IntervalTier\"\n        name = \"{}\"\n        xmin = 0\n        xmax = {}\n"
        "        intervals: size = {}\n{}",
        number, name, alignment.duration, tier->count, tier->intervals);
  }
  return text;
}

}  // namespace

Json alignment_json(const Transcript& alignment) {
  Json words = Json::array(), unaligned = Json::array(), lines = Json::array();
  std::size_t index = 0;
  for (const TranscriptSegment& line : alignment.segments) {
    for (const TranscriptWord& word : line.words) {
      const auto text = strip(word.text);
      if (std::isnan(word.start)) {
        unaligned.push_back({{"word", text}, {"index", index}, {"segment", line.id}});
      } else {
        words.push_back({{"word", text}, {"start", word.start}, {"end", word.end}, {"probability", word.probability}});
      }
      ++index;
    }
    lines.push_back({{"id", line.id}, {"start", line.start}, {"end", line.end}, {"text", line.text}});
  }
  return {{"text", alignment.text},    {"language", alignment.language},    {"duration", alignment.duration},
          {"words", std::move(words)}, {"unaligned", std::move(unaligned)}, {"segments", std::move(lines)}};
}

std::string format_alignment(const Transcript& alignment, AlignmentFormat format) {
  if (format == AlignmentFormat::json) return python_text(alignment_json(alignment));
  if (format == AlignmentFormat::textgrid) return text_grid(alignment);
  Transcript lines{.duration = alignment.duration};
  for (const TranscriptSegment& line : alignment.segments) {
    if (!std::isnan(line.start)) lines.segments.push_back({.start = line.start, .end = line.end, .text = line.text});
  }
  const auto own = value_named<TranscriptFormat>(kTranscriptFormats, name_of(kAlignmentFormats, format));
  return encdec::format(lines, *own);
}

}  // namespace encdec
