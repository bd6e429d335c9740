// SubRip and WebVTT subtitles. Only texts are changed. A sentence that continues over several subtitles is one text.
#include <algorithm>
#include <cmath>
#include <utility>

#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/translation/documents/text_file.h"
#include "encdec/translation/documents/xml.h"
#include "encdec/translation/text/word_list.h"

namespace encdec::documents {
namespace {

constexpr std::size_t kMaxCues = 6, kMaxJoinedBytes = 300;  // limits of one text

enum class Subtitles : std::uint8_t { srt, vtt };

// A text of a subtitle: all its lines, or the lines of one speaker.
struct Cue {
  Text text;
  double begin = 0.0, end = 0.0;  // seconds
  std::size_t number = 0;         // index of the subtitle
  bool has_lines = false;         // the text has several lines
};

bool starts_with_any(std::string_view text, std::string_view list) {
  return any_word(list, [text](std::string_view beginning) { return text.starts_with(beginning); });
}

bool ends_with_any(std::string_view text, std::string_view list) {
  return any_word(list, [text](std::string_view end) { return text.ends_with(end); });
}

// Removes a time, such as "01:02:03,456" or "2:03.4", from a text. Returns the time in seconds; nullopt if malformed.
std::optional<double> take_time(std::string_view& text) {
  text = trim(text, kBlanks);
  double minutes = 0.0, seconds = 0.0, unit = 1.0;
  std::size_t position = 0, fields = 1;
  for (; position < text.size(); ++position) {
    const char c = text[position];
    const bool is_fraction = unit < 1.0;
    if (c >= '0' && c <= '9') {
      seconds = is_fraction ? seconds + unit * (c - '0') : 10.0 * seconds + (c - '0');
      if (is_fraction) unit /= 10.0;
    } else if ((c == ',' || c == '.') && !is_fraction) {
      unit = 0.1;
    } else if (c == ':' && !is_fraction) {
      minutes = 60.0 * minutes + std::exchange(seconds, 0.0);
      ++fields;
    } else {
      break;
    }
  }
  text.remove_prefix(position);
  return fields == 2 || fields == 3 ? std::optional(60.0 * minutes + seconds) : std::nullopt;
}

// Parses a timing line: "00:00:01,000 --> 00:00:02,500 ...".
std::optional<std::pair<double, double>> times_of(std::string_view line) {
  const auto begin = take_time(line);
  line = trim(line, kBlanks);
  if (!begin || !line.starts_with("-->")) return std::nullopt;
  line.remove_prefix(3);
  const auto end = take_time(line);
  return end ? std::optional(std::pair(*begin, *end)) : std::nullopt;
}

// Returns true if a line looks like a timing line: it contains "-->", or the colons of two times and no letters.
bool is_like_times(std::string_view line) {
  if (line.find("-->") != line.npos) return true;
  std::size_t colons = 0;  // number of colons that follow a digit
  for (std::size_t i = 1; i < line.size(); ++i) colons += line[i] == ':' && line[i - 1] >= '0' && line[i - 1] <= '9';
  return colons >= (line.find("->") == line.npos ? 4 : 2) && !has_letters(line);
}

bool is_cue_number(std::string_view line) {
  const std::string_view number = trim(line, kBlanks);
  return !number.empty() && number.find_first_not_of("0123456789") == number.npos;
}

bool is_dialogue(std::string_view line) {
  return starts_with_any(trim(line, kBlanks), "- \u2013 \u2014");
}

// Returns the size of the markup at the beginning of `text`: a tag, a ruby reading such as <rt>ka</rt>, or an ASS
// override such as {\an8}. Returns 0 if there is none.
std::size_t markup_size(std::string_view text, Subtitles kind) {
  constexpr std::size_t kMostBytes = 500;
  constexpr std::string_view kReadingEnd = "</rt>";
  const std::size_t reading = text.starts_with("<rt>") ? text.substr(0, kMostBytes).find(kReadingEnd) : text.npos;
  if (reading != text.npos) return reading + kReadingEnd.size();
  const bool is_ass = text.starts_with("{\\");
  const bool is_tag = text.size() > 1 && text.front() == '<' &&
                      (text[1] == '/' || (text[1] | 0x20) >= 'a' || (kind == Subtitles::vtt && text[1] >= '0'));
  if (!is_ass && !is_tag) return 0;
  const std::size_t end = text.substr(0, kMostBytes).find_first_of(is_ass ? "}\r\n" : ">\r\n");
  return end == text.npos || text[end] == '\r' || text[end] == '\n' ? 0 : end + 1;
}

// Splits the lines of a cue into texts and inline codes.
std::vector<Item> items_of(std::string_view bytes, ByteRange lines, Subtitles kind) {
  std::vector<Item> items;
  std::vector<std::pair<std::string_view, std::size_t>> open;  // name and item index of each open tag
  std::size_t begin = lines.begin;
  const auto add_text = [&](std::size_t end) {
    if (begin < end) items.push_back({.kind = Item::Kind::text, .range = {begin, end}});
  };
  for (std::size_t position = lines.begin; position < lines.end;) {
    const std::string_view rest = bytes.substr(position, lines.end - position);
    const std::size_t size = markup_size(rest, kind);
    position += std::max<std::size_t>(size, 1);
    if (size == 0) continue;
    add_text(position - size);
    const ByteRange range = {position - size, position};
    begin = position;
    const bool is_end = rest.starts_with("</");
    const std::size_t name_begin = is_end ? 2 : 1;
    const std::string_view tag = rest.substr(0, size);
    const std::string_view name = tag.substr(name_begin, tag.find_first_of(" .>\t/", name_begin) - name_begin);
    if (rest[1] >= '0' && rest[1] <= '9') {  // drop a timestamp inside a cue
      items.push_back({.kind = Item::Kind::text, .range = range, .content = {begin, begin}});
    } else if (is_end && !open.empty() && open.back().first == name) {
      add_close(items, open.back().second, range);
      open.pop_back();
    } else {
      if (rest.front() == '<' && !is_end && name != "rt") open.emplace_back(name, items.size());
      items.push_back({.kind = Item::Kind::single, .range = range});
    }
  }
  add_text(lines.end);
  return items;
}

bool has_only_capitals(std::string_view text) {
  return std::ranges::none_of(text, [](char c) { return (c >= 'a' && c <= 'z') || (c & 0x80) != 0; });
}

// Returns true if the sentence at the end of `text` continues in the next subtitle.
bool continues(std::string_view text, std::string_view next) {
  // Dashes, notes and brackets mark a change of speaker, a song or a sound.
  constexpr std::string_view kBreaks = "- \u2013 \u2014 \u266a \u266b # [ ( >> \u3010 \uff08 \u300c *";
  constexpr std::string_view kEndBreaks = "\u266a \u266b # ] ) *";
  constexpr std::string_view kStops = ". ! ? : ; \u2026 \u3002 \uff01 \uff1f \u300d";
  constexpr std::string_view kQuotes = "\" ' \u201d \u2019 \u00bb \u300d \u300f \u201c";
  constexpr std::string_view kTitles = "Mr. Mrs. Ms. Dr. St. Prof.";
  if (starts_with_any(next, kBreaks) || ends_with_any(text, kEndBreaks)) return false;
  const std::size_t colon = next.find(": ");
  if (colon != next.npos && has_only_capitals(next.substr(0, colon))) return false;  // "JOHN: Hello"
  if (has_only_capitals(text) || has_only_capitals(next)) return false;
  while (ends_with_any(text, kQuotes)) text.remove_suffix(text.size() - last_character(text));
  constexpr std::string_view kDots = "... \u2026";
  const bool is_small = next.front() >= 'a' && next.front() <= 'z';
  if (ends_with_any(text, kDots)) return is_small || starts_with_any(next, kDots);
  return ends_with_any(text, kTitles) || !ends_with_any(text, kStops);
}

// Returns true if a text begins with an East Asian wide character, which needs no space around it.
bool starts_wide(std::string_view text) {
  return !text.empty() && columns(text.substr(0, first_character(text).bytes)) == 2;
}

// Returns the gaps at which a line may end: the ranges from the end of a line to the beginning of the next line.
std::vector<ByteRange> gaps(std::string_view text, ByteRange part) {
  constexpr std::string_view kEnds = "\u3002 \u3001 \uff0c \uff01 \uff1f \u300d";
  std::vector<ByteRange> gaps;
  bool was_wide = false;
  for (std::size_t i = part.begin; i < part.end;) {
    const std::string_view rest = text.substr(i);
    const bool is_space = rest.front() == ' ', is_wide = starts_wide(rest);
    const std::size_t next = is_space ? std::min(text.find_first_not_of(' ', i), part.end) : i;
    const bool is_gap =
        is_space ? next < part.end && i > part.begin : is_wide && was_wide && !starts_with_any(rest, kEnds);
    if (is_gap) gaps.push_back({i, next});
    was_wide = is_wide;
    i = is_space ? next : i + first_character(rest).bytes;
  }
  return gaps;
}

// Returns the gaps nearest to the fractions `shares` of a part's characters: at most one gap per share, in order.
std::vector<ByteRange> gaps_near(std::string_view text, ByteRange part, const std::vector<double>& shares) {
  const std::vector<ByteRange> all = gaps(text, part);
  std::vector<double> before = {0.0};  // before[i + 1] is the number of characters before gap i
  std::size_t position = part.begin;
  for (const ByteRange& gap : all) {
    before.push_back(before.back() + static_cast<double>(code_points(ByteRange{position, gap.begin}.of(text)).size()));
    position = gap.begin;
  }
  const double size = before.back() + static_cast<double>(code_points(ByteRange{position, part.end}.of(text)).size());
  std::vector<ByteRange> chosen;
  for (std::size_t i = 0, next = 0; i < shares.size() && next < all.size(); ++i) {
    const auto distance = [&](std::size_t gap) { return std::abs(before[gap + 1] - shares[i] * size); };
    const std::size_t later = shares.size() - i - 1;  // number of gaps that later shares need
    while (next + 1 + later < all.size() && distance(next + 1) < distance(next)) ++next;
    chosen.push_back(all[next++]);
  }
  return chosen;
}

// Moves the cuts to beginnings of words, in proportion to the times of the subtitles.
std::vector<Cut> cuts_by_time(std::string_view text, std::vector<Cut> cuts) {
  std::vector<double> shares;
  for (const Cut& cut : cuts) shares.push_back(cut.share_before);
  const std::vector<ByteRange> gaps = gaps_near(text, {0, text.size()}, shares);
  for (std::size_t i = 0; i < cuts.size(); ++i) cuts[i].position = i < gaps.size() ? gaps[i].end : text.size();
  return cuts;
}

class SubtitleFile final : public TextFile {
 public:
  SubtitleFile(const InputFile& input, Subtitles kind) : TextFile(input, {}), kind_(kind) {
    read();
    for (std::size_t i = 0; i < cues_.size();) i = join(i);
  }

  void edit(std::size_t text, const FittedTranslation& translation, std::vector<Edit>& edits) const override {
    const Text& source = texts_[text];
    FittedTranslation whole = translation;
    Segment& segment = whole.segment;
    std::ranges::replace_if(
        segment.text, [](char c) { return c == '\n' || c == '\r'; }, ' ');
    if (segment.cuts.size() != source.segment.cuts.size())
      segment.cuts = cuts_by_time(segment.text, source.segment.cuts);
    struct WrittenLine {
      std::size_t cue;
      ByteRange range;
    };
    // Split the translation at the cuts, and wrap each part into lines.
    std::vector<WrittenLine> lines;
    for (std::size_t i = 0, begin = 0; i <= segment.cuts.size(); ++i) {
      ByteRange part = {begin, i < segment.cuts.size() ? segment.cuts[i].position : segment.text.size()};
      begin = part.end;
      part.begin = std::min(segment.text.find_first_not_of(' ', part.begin), part.end);
      part.end = part.begin + part.of(segment.text).find_last_not_of(' ') + 1;
      const std::size_t cue = first_cue_[text] + i;
      for (const ByteRange& line : wrapped(segment.text, part, cues_[cue].has_lines)) lines.push_back({cue, line});
    }
    // Move each code between two lines: to the end of the first line if the code closes a pair that begins there or
    // earlier, else to the beginning of the second line.
    std::size_t number = 0;
    for (std::size_t j = 0; j < segment.codes.size(); ++j) {
      InlineCode& code = segment.codes[j];
      while (number + 1 < lines.size() && lines[number + 1].range.begin <= code.position) ++number;
      const ByteRange& line = lines[number].range;
      code.position = std::max(code.position, line.begin);
      const auto ends_pair = [&](std::size_t end) {
        return code.partner && *code.partner < j && segment.codes[*code.partner].position <= end;
      };
      if (code.position == line.begin && number > 0 && ends_pair(lines[number - 1].range.end)) {
        code.position = lines[number - 1].range.end;
      } else if (code.position > line.end && number + 1 < lines.size()) {
        code.position = ends_pair(line.end) ? line.end : lines[number + 1].range.begin;
      }
    }
    // Write one edit per subtitle, with its lines.
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const bool begins_cue = i == 0 || lines[i - 1].cue != lines[i].cue;
      if (begins_cue) edits.push_back({.range = cues_[lines[i].cue].text.range, .parts = {}});
      std::vector<Part>& parts = edits.back().parts;
      if (!begins_cue) parts.push_back({.text = line_end_});
      const std::size_t begin = i == 0 ? 0 : lines[i].range.begin;
      const std::size_t end = i + 1 == lines.size() ? std::string::npos : lines[i].range.end;
      std::ranges::move(parts_of(whole, source, begin, end), std::back_inserter(parts));
    }
  }

 private:
  void read() {
    const std::vector<Line> lines = lines_of(input_.bytes);
    if (kind_ == Subtitles::vtt && (lines.empty() || !lines[0].text.starts_with("WEBVTT"))) {
      input_.refuse_at(0, "no WEBVTT in the first line, expected it");
    }
    const auto is_blank = [&](std::size_t i) { return trim(lines[i].text, kBlanks).empty(); };
    std::vector<std::size_t> headers;  // indices of timing lines
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (times_of(lines[i].text)) {
        headers.push_back(i);
      } else if (is_like_times(lines[i].text)) {
        input_.refuse_at(lines[i].begin, "times that cannot be read, expected 00:00:01,000 --> 00:00:02,000");
      }
    }
    for (std::size_t i = 0; headers.empty() && kind_ == Subtitles::srt && i < lines.size(); ++i) {
      if (is_blank(i) || is_cue_number(lines[i].text)) continue;
      input_.refuse_at(lines[i].begin, "no times, expected 00:00:01,000 --> 00:00:02,000");
    }
    for (std::size_t h = 0; h < headers.size(); ++h) {
      const std::size_t begin = headers[h] + 1, next = h + 1 < headers.size() ? headers[h + 1] : lines.size();
      std::size_t end = next;
      if (kind_ == Subtitles::vtt) {
        for (end = begin; end < next && !is_blank(end);) ++end;
      } else {
        // In SubRip, the line before a timing line is the number of the subtitle. It may have characters other than
        // digits, as in "2a", if an empty line precedes it and the previous subtitle has text.
        const bool is_apart = end > begin + 2 && is_blank(end - 2) && !is_blank(begin);
        if (next < lines.size() && end > begin && (is_apart || is_cue_number(lines[end - 1].text))) --end;
        while (end > begin && is_blank(end - 1)) --end;
      }
      add_cues(h, std::span(lines).subspan(begin, end - begin), *times_of(lines[headers[h]].text));
    }
  }
  // Adds the text of a subtitle, or one text per speaker.
  void add_cues(std::size_t number, std::span<const Line> lines, std::pair<double, double> times) {
    const Syntax syntax = kind_ == Subtitles::vtt ? xml_syntax(Spaces::collapse) : Syntax{.spaces = Spaces::collapse};
    const bool has_speakers = std::ranges::count_if(lines, [](const Line& l) { return is_dialogue(l.text); }) > 1;
    for (std::size_t i = 0, end = 0; i < lines.size(); i = end) {
      end = i + 1;
      while (end < lines.size() && !(has_speakers && is_dialogue(lines[end].text))) ++end;
      auto text = text_of(input_, items_of(input_.bytes, {lines[i].begin, lines[end - 1].end}, kind_), syntax);
      if (!text) continue;
      const bool has_lines = text->range.of(input_.bytes).find_first_of("\r\n") != input_.bytes.npos;
      cues_.push_back({*std::move(text), times.first, times.second, number, has_lines});
    }
  }
  // Joins the cues of the sentence that begins in cue `first`. Returns the index of the cue after the sentence.
  std::size_t join(std::size_t first) {
    Text text = cues_[first].text;
    Segment& segment = text.segment;
    double duration = cues_[first].end - cues_[first].begin;
    std::size_t next = first + 1;
    for (; next < cues_.size() && next - first < kMaxCues; ++next) {
      const Cue &before = cues_[next - 1], &cue = cues_[next];
      const Segment& added = cue.text.segment;
      const bool is_in_order = cue.begin > before.begin && cue.end > cue.begin && before.end > before.begin;
      if (cue.number != before.number + 1 || !is_in_order || cue.begin - before.end >= input_.options.join_gap ||
          segment.text.size() + added.text.size() > kMaxJoinedBytes || !continues(segment.text, added.text)) {
        break;
      }
      const std::string_view last = std::string_view(segment.text).substr(last_character(segment.text));
      if (!starts_wide(last) || !starts_wide(added.text)) segment.text += ' ';
      const std::size_t position = segment.text.size(), codes = segment.codes.size();
      segment.cuts.push_back({.position = position, .share_before = duration});
      segment.text += added.text;
      for (InlineCode code : added.codes) {
        code.position += position;
        if (code.partner) code.partner = *code.partner + codes;
        segment.codes.push_back(std::move(code));
      }
      text.codes.insert(text.codes.end(), cue.text.codes.begin(), cue.text.codes.end());
      duration += cue.end - cue.begin;
    }
    for (Cut& cut : segment.cuts) cut.share_before /= duration;
    texts_.push_back(std::move(text));
    first_cue_.push_back(first);
    return next;
  }
  // Wraps a part of a text into lines of about equal length.
  std::vector<ByteRange> wrapped(std::string_view text, ByteRange part, bool has_lines) const {
    const DocumentOptions& options = input_.options;
    const std::size_t width = options.line_width.value_or(is_cjk(options.target_language) ? 16 : 42);
    const std::size_t all = code_points(part.of(text)).size();
    std::vector<ByteRange> lines = {part};
    if ((all <= width && !has_lines) || options.max_lines < 2 || all <= width / 2) return lines;
    const std::size_t count =
        std::clamp<std::size_t>((all + width - 1) / std::max<std::size_t>(width, 1), 2, options.max_lines);
    std::vector<double> shares;
    for (std::size_t i = 1; i < count; ++i) shares.push_back(static_cast<double>(i) / static_cast<double>(count));
    for (const ByteRange& gap : gaps_near(text, part, shares)) {
      lines.back().end = gap.begin;
      lines.push_back({gap.end, part.end});
    }
    return lines;
  }

  Subtitles kind_;
  const std::string line_end_ = input_.bytes.find("\r\n") == input_.bytes.npos ? "\n" : "\r\n";
  std::vector<Cue> cues_;
  std::vector<std::size_t> first_cue_;  // first cue of each text; n cuts divide a text into n + 1 cues
};

}  // namespace

std::unique_ptr<TextFile> read_srt(const InputFile& input) {
  return std::make_unique<SubtitleFile>(input, Subtitles::srt);
}

std::unique_ptr<TextFile> read_vtt(const InputFile& input) {
  return std::make_unique<SubtitleFile>(input, Subtitles::vtt);
}

}  // namespace encdec::documents
