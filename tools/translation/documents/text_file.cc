#include "encdec/translation/documents/text_file.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "encdec/engine/base/cancellation.h"
#include "encdec/engine/base/refuse.h"
#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/translation/documents/xml.h"
#include "encdec/translation/text/html.h"
#include "encdec/translation/text/kept_words.h"
#include "encdec/translation/text/word_list.h"

namespace encdec::documents {
namespace {

// Appends a range of a file to `written`, with the edits in the range applied.
void copy(std::string_view file, ByteRange range, std::span<const Edit> edits, std::string& written) {
  std::size_t position = range.begin;
  auto edit = std::ranges::lower_bound(edits, position, {}, [](const Edit& e) { return e.range.begin; });
  for (; edit != edits.end() && (edit->range.begin < range.end || range.end == file.size()); ++edit) {
    poll_cancelled();
    if (edit->range.begin < position || edit->range.end > range.end) continue;
    written += file.substr(position, edit->range.begin - position);
    for (const Part& part : edit->parts) {
      written += part.text;
      if (part.range.begin < part.range.end) copy(file, part.range, {edit + 1, edits.end()}, written);
    }
    position = edit->range.end;
  }
  written += file.substr(position, range.end - position);
}

bool is_white_space(char c) {
  return kWhiteSpace.find(c) != kWhiteSpace.npos;
}

void collapse_spaces(std::string& text) {
  std::ranges::replace_if(text, is_white_space, ' ');
  const auto same = std::ranges::unique(text, [](char a, char b) { return a == ' ' && b == ' '; });
  text.erase(same.begin(), same.end());
}

// Returns the markup of a code, truncated because an element may contain whole paragraphs.
std::string shown(std::string_view content) {
  constexpr std::size_t kMostBytes = 1000;
  if (content.size() <= kMostBytes) return std::string(content);
  std::size_t end = kMostBytes;
  while (is_continuation(content[end])) --end;
  return std::string(content.substr(0, end));
}

// Returns the range of items without codes and white space at both ends. Includes both codes of a pair, or neither.
ByteRange without_ends(std::string_view bytes, const std::vector<Item>& items) {
  const auto is_outside = [&](const Item& item) {
    if (item.kind == Item::Kind::placeholder) return false;
    return item.kind != Item::Kind::text || std::ranges::all_of(item.content.of(bytes), is_white_space);
  };
  std::size_t begin = 0, end = items.size();
  while (begin < end && is_outside(items[begin])) ++begin;
  while (end > begin && is_outside(items[end - 1])) --end;
  // Include codes whose partner is inside. Pairs are nested, so one pass per end is enough.
  const auto is_inside = [&](const Item& item) {
    return item.partner && *item.partner >= begin && *item.partner < end;
  };
  for (std::size_t i = begin; i-- > 0;) {
    if (is_inside(items[i])) begin = i;
  }
  for (std::size_t i = end; i < items.size(); ++i) {
    if (is_inside(items[i])) end = i + 1;
  }
  return {begin, end};
}

// Sorts the codes of a text by position, and renumbers their partners.
void sort_codes(Text& text) {
  std::vector<InlineCode>& codes = text.segment.codes;
  std::vector<std::size_t> order(codes.size()), number(codes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return codes[i].position; });
  for (std::size_t k = 0; k < order.size(); ++k) number[order[k]] = k;
  const Text old = text;
  for (std::size_t k = 0; k < order.size(); ++k) {
    codes[k] = old.segment.codes[order[k]];
    text.codes[k] = old.codes[order[k]];
    if (codes[k].partner) codes[k].partner = number[*codes[k].partner];
  }
}

constexpr std::string_view kBreakTags = "br dd div dl dt h1 h2 h3 h4 hr li ol p pre table td th tr ul";

// Converts the placeholders that are paired tags or line-break tags to codes, and removes them from the text. Writes a
// newline instead of a line break between two words.
void make_codes(Text& text) {
  Segment& segment = text.segment;
  const std::vector<Placeholder> all = std::exchange(segment.placeholders, {});
  // Find the pairs. The vectors store each placeholder's tag name, whether it is a code, and its start tag's index.
  std::vector<std::string> names(all.size());
  std::vector<bool> is_code(all.size());
  std::vector<std::optional<std::size_t>> starts(all.size());
  std::vector<std::size_t> open;
  std::map<std::string, std::size_t> number;  // number of open tags, by name
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string_view markup = part(segment.text, all[i]);
    if (all[i].markup || markup.front() != '<') continue;
    names[i] = tag_name(markup);
    is_code[i] = has_word(kBreakTags, names[i]);
    if (markup.starts_with("</") && number[names[i]] > 0) {
      while (!starts[i] || names[*starts[i]] != names[i]) {  // skip unclosed tags, which stay placeholders
        starts[i] = open.back();
        --number[names[open.back()]];
        open.pop_back();
      }
      is_code[i] = is_code[*starts[i]] = true;
    } else if (!markup.starts_with("</") && !is_code[i]) {
      ++number[names[i]];
      open.push_back(i);
    }
  }
  std::vector<Replacement> removed;
  std::size_t run = 0;    // offset of the current run of adjacent tags
  bool is_break = false;  // the run has a line-break tag
  const auto end_run = [&](std::size_t next) {
    if (!removed.empty() && removed.back().end == next) return;
    if (is_break && run > 0) removed.back().by = "\n";
    is_break = false;
    run = next;
  };
  // Move the tags from the text to the codes.
  std::vector<std::size_t> code_of(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!is_code[i]) {
      segment.placeholders.push_back(all[i]);
      continue;
    }
    end_run(all[i].begin);
    removed.push_back({.begin = all[i].begin, .end = all[i].end});
    is_break = is_break || has_word(kBreakTags, names[i]);
    code_of[i] = segment.codes.size();
    segment.codes.push_back({.position = all[i].begin, .markup = text.escape(part(segment.text, all[i]))});
    text.codes.push_back({.text = segment.codes.back().markup});
    if (!starts[i]) continue;
    segment.codes.back().partner = code_of[*starts[i]];
    segment.codes[code_of[*starts[i]]].partner = code_of[i];
  }
  end_run(segment.text.size());
  sort_codes(text);
  replace_in(segment, removed);
}

// Throws UnusableTranslation if characters are invalid, or codes, placeholders or cuts are unsorted or out of range.
void check_characters_and_positions(const Segment& translation) {
  const std::string& text = translation.text;
  const auto is_control = [](char c) {
    return (static_cast<unsigned char>(c) < ' ' && !is_white_space(c)) || c == '\f';
  };
  if (find_invalid_utf8(text)) throw UnusableTranslation("the text is not UTF-8");
  if (std::ranges::any_of(text, is_control)) throw UnusableTranslation("the text has a control character");
  if (text.find("\ufffe") != text.npos || text.find("\uffff") != text.npos) {
    throw UnusableTranslation("the text has the character U+FFFE or U+FFFF");
  }
  std::size_t position = 0;
  const auto check = [&](std::size_t next) {
    if (next < position || next > text.size() || (next < text.size() && is_continuation(text[next]))) {
      throw UnusableTranslation("positions of codes, placeholders or cuts are unsorted or outside the text");
    }
    position = next;
  };
  for (const InlineCode& code : translation.codes) check(code.position);
  position = 0;
  for (const Placeholder& placeholder : translation.placeholders) check(placeholder.begin), check(placeholder.end);
  position = 0;
  for (const Cut& cut : translation.cuts) check(cut.position);
}

// Throws UnusableTranslation unless source and translation have the same placeholders, in any order.
void check_placeholders(const Segment& source, const Segment& translation) {
  std::map<std::pair<std::string_view, std::string>, int> left;
  const auto count = [&left](const Segment& segment, int by) {
    for (const Placeholder& p : segment.placeholders) left[{part(segment.text, p), p.markup.value_or("")}] += by;
  };
  count(source, 1);
  count(translation, -1);
  for (const auto& [name, number] : left) {
    if (number == 0) continue;
    const std::string shown = printable(name.second.empty() ? name.first : name.second);
    throw UnusableTranslation(fmt::format("placeholder '{}' is {}", shown, number > 0 ? "missing" : "new"));
  }
}

// Removes a white-space character next to each line-break code: the translation of the newline that make_codes() wrote.
void remove_spaces_at_breaks(const Segment& source, FittedTranslation& translation) {
  Segment& segment = translation.segment;
  std::vector<Replacement> removed;
  const auto is_free_space = [&](std::size_t i) {
    return i < segment.text.size() && is_white_space(segment.text[i]) && (removed.empty() || removed.back().begin < i);
  };
  for (std::size_t j = 0; j < segment.codes.size(); ++j) {
    const InlineCode& code = source.codes[translation.code_of[j]];
    if (code.partner || !std::string_view(source.text).substr(code.position).starts_with('\n')) continue;
    const std::size_t position = segment.codes[j].position;
    if (is_free_space(position)) {
      removed.push_back({.begin = position, .end = position + 1});
    } else if (position > 0 && is_free_space(position - 1)) {
      removed.push_back({.begin = position - 1, .end = position});
    }
  }
  replace_in(segment, removed);
}

// Returns true if a code is a start or end tag whose partner is not in the text.
bool is_half(const InlineCode& code) {
  const std::string_view tag = code.markup;
  if (code.partner || tag.size() < 3 || tag.starts_with("<!") || tag.starts_with("<?")) return false;
  return tag.starts_with("</") || (!tag.ends_with("/>") && tag.find("</") == tag.npos);
}

// Returns true if pairs are nested, and tags without a partner in the text are in source order, outside all pairs.
bool is_nested(const Segment& source, const std::vector<std::size_t>& code_of) {
  std::vector<std::string_view> open;  // end tags of the open pairs
  std::size_t last_half = 0;
  for (const std::size_t i : code_of) {
    const InlineCode& code = source.codes[i];
    if (is_half(code) && (!open.empty() || i < std::exchange(last_half, i))) return false;
    if (!code.partner) continue;
    if (*code.partner > i) {
      open.push_back(source.codes[*code.partner].markup);
    } else {
      if (open.empty() || open.back() != code.markup) return false;
      open.pop_back();
    }
  }
  return open.empty();
}

}  // namespace

std::string with_edits(std::string_view file, std::vector<Edit> edits) {
  // At the same offset, insertions come first, then larger ranges before smaller ranges.
  const auto key = [&file](const Edit& edit) {
    return std::tuple(edit.range.begin, edit.range.begin != edit.range.end, file.size() - edit.range.end);
  };
  std::ranges::stable_sort(edits, {}, key);
  std::string written;
  copy(file, {0, file.size()}, edits, written);
  return written;
}

void add_close(std::vector<Item>& items, std::size_t open, ByteRange range) {
  items[open].kind = Item::Kind::open;
  items[open].partner = items.size();
  items.push_back({.kind = Item::Kind::close, .range = range, .partner = open});
}

void replace_in(Segment& segment, const std::vector<Replacement>& replacements) {
  segment.text = replaced(segment.text, replacements);
  PositionMover codes(replacements), placeholders(replacements), cuts(replacements);
  for (InlineCode& code : segment.codes) code.position = codes(code.position);
  for (Placeholder& kept : segment.placeholders)
    kept.begin = placeholders(kept.begin), kept.end = placeholders(kept.end);
  for (Cut& cut : segment.cuts) cut.position = cuts(cut.position);
}

std::string_view trim(std::string_view text, std::string_view characters) {
  text.remove_prefix(std::min(text.find_first_not_of(characters), text.size()));
  return text.substr(0, text.find_last_not_of(characters) + 1);
}

bool has_letters(std::string_view text) {
  return std::ranges::any_of(code_points(text),
                             [](const CodePoint& c) { return u_isalpha(static_cast<UChar32>(c.value)) != 0; });
}

bool add_marks(Text& text, const PlaceholderSyntax& syntax) {
  constexpr std::size_t kMostMarks = 1 << 16;  // equals the maximum number of codes in HTML
  if (!add_placeholders(text.segment, syntax)) return false;
  if (syntax.markup && text.segment.placeholders.size() <= kMostMarks) make_codes(text);
  return true;
}

std::optional<Text> text_of(const InputFile& input, std::vector<Item> items, const Syntax& syntax) {
  const std::string_view bytes = input.bytes;
  // Count three copies of each text: in the file, in the document and in the translation.
  constexpr std::size_t kItemBytes = sizeof(Item) + sizeof(std::size_t) + 3 * sizeof(InlineCode) + 2 * sizeof(Part);
  input.count(3 * sizeof(Segment));
  for (const Item& item : items) input.count(kItemBytes + 3 * (item.content.end - item.content.begin));
  const ByteRange kept = without_ends(bytes, items);
  if (kept.begin == kept.end) return std::nullopt;
  // Remove the white space at both ends, then append the items to the text.
  Item &first = items[kept.begin], &last = items[kept.end - 1];
  if (syntax.spaces != Spaces::keep && first.kind == Item::Kind::text) {
    first.range.begin = first.content.begin =
        std::min(bytes.find_first_not_of(kWhiteSpace, first.content.begin), first.content.end);
  }
  if (syntax.spaces != Spaces::keep && last.kind == Item::Kind::text) {
    last.range.end = last.content.end = last.content.begin + last.content.of(bytes).find_last_not_of(kWhiteSpace) + 1;
  }
  Text text{.segment = {}, .range = {first.range.begin, last.range.end}, .escape = syntax.escape};
  Segment& segment = text.segment;
  std::vector<std::size_t> number(items.size());  // index in the segment of each item that is a code
  bool follows_code = false;                      // true after a code; spaces on both sides are kept
  for (std::size_t i = kept.begin; i < kept.end; ++i) {
    const Item& item = items[i];
    const std::string_view content = item.content.of(bytes);
    if (item.kind == Item::Kind::text) {
      std::string plain = syntax.unescape(content);
      if (syntax.spaces == Spaces::collapse) {
        collapse_spaces(plain);
        const bool follows_space = segment.text.ends_with(' ') || segment.text.ends_with('\n');
        if (plain.starts_with(' ') && follows_space && !follows_code) plain.erase(0, 1);
      }
      segment.text += plain;
      follows_code = false;
    } else if (item.kind == Item::Kind::placeholder) {
      const std::size_t begin = segment.text.size();
      segment.text += syntax.unescape(content);
      const std::string markup(item.range.of(bytes));
      segment.placeholders.push_back({.begin = begin, .end = segment.text.size(), .markup = markup});
    } else {
      number[i] = segment.codes.size();
      InlineCode code{.position = segment.text.size(), .markup = shown(content)};
      if (item.partner && *item.partner >= kept.begin && *item.partner < i) {  // a closing code
        code.partner = number[*item.partner];
        segment.codes[*code.partner].partner = number[i];
      }
      segment.codes.push_back(std::move(code));
      text.codes.push_back({.range = item.content});
      follows_code = true;
    }
  }
  if (!add_marks(text, syntax.placeholders)) return std::nullopt;
  std::vector<Replacement> messages;  // apart from ICU messages, the text must have letters
  for (const Placeholder& p : segment.placeholders) {
    if (is_message(part(segment.text, p))) messages.push_back({.begin = p.begin, .end = p.end});
  }
  return has_letters(replaced(segment.text, messages)) ? std::optional(std::move(text)) : std::nullopt;
}

FittedTranslation fit(const Segment& source, const Segment& translation, Nesting nesting) {
  check_characters_and_positions(translation);
  check_placeholders(source, translation);
  // Match each code of the translation with the first unused source code that has the same markup.
  std::map<std::string_view, std::vector<std::size_t>> left;
  for (std::size_t i = source.codes.size(); i-- > 0;) left[source.codes[i].markup].push_back(i);
  std::vector<std::optional<std::size_t>> found;  // source code of each code of the translation
  std::vector<bool> is_there(source.codes.size());
  for (const InlineCode& code : translation.codes) {
    std::vector<std::size_t>& same = left[code.markup];
    found.push_back(same.empty() ? std::nullopt : std::optional(same.back()));
    if (same.empty()) continue;
    is_there[same.back()] = true;
    same.pop_back();
  }
  FittedTranslation fitting{.segment = translation, .code_of = {}};
  fitting.segment.codes.clear();
  std::vector<std::size_t> number(source.codes.size());  // index of each source code in `fitting`
  const auto add = [&](std::size_t position, std::size_t i) {
    number[i] = fitting.code_of.size();
    fitting.segment.codes.push_back({.position = position, .markup = source.codes[i].markup});
    fitting.code_of.push_back(i);
  };
  // If one code of a pair is missing, add both codes at the end.
  const auto is_whole = [&](std::size_t i) {
    const auto partner = source.codes[i].partner;
    return is_there[i] && (!partner || is_there[*partner]);
  };
  for (std::size_t j = 0; j < found.size(); ++j) {
    if (found[j] && is_whole(*found[j])) add(translation.codes[j].position, *found[j]);
  }
  for (std::size_t i = 0; i < source.codes.size(); ++i) {
    if (!is_whole(i)) add(translation.text.size(), i);
  }
  if (nesting == Nesting::strict && !is_nested(source, fitting.code_of)) {
    throw UnusableTranslation("the codes are not nested as in the source");
  }
  for (std::size_t i = 0; i < source.codes.size(); ++i) {
    const auto partner = source.codes[i].partner;
    if (partner) fitting.segment.codes[number[i]].partner = number[*partner];
  }
  remove_spaces_at_breaks(source, fitting);
  return fitting;
}

std::vector<Part> parts_of(const FittedTranslation& translation, const Text& source, std::size_t begin,
                           std::size_t end) {
  const Segment& segment = translation.segment;
  const std::string_view text = segment.text;
  end = std::min(end, text.size());
  std::vector<Part> parts(1);
  std::size_t position = begin;
  auto placeholder = std::ranges::find_if(segment.placeholders, [&](const auto& p) { return p.begin >= begin; });
  const auto write_text = [&](std::size_t until) {
    std::string& written = parts.back().text;
    for (; placeholder != segment.placeholders.end() && placeholder->end <= until; ++placeholder) {
      if (placeholder->begin < position) continue;
      written += source.escape(text.substr(position, placeholder->begin - position));
      written += placeholder->markup ? *placeholder->markup : source.escape(part(text, *placeholder));
      position = placeholder->end;
    }
    if (until > position) written += source.escape(text.substr(position, until - position));
    position = std::max(position, until);
  };
  for (std::size_t j = 0; j < segment.codes.size(); ++j) {
    poll_cancelled();
    const InlineCode& code = segment.codes[j];
    // Skip the code if it belongs to another range.
    const bool ends_pair = code.partner && *code.partner < j && segment.codes[*code.partner].position < code.position;
    if (code.position < begin || code.position > end || (code.position == begin && begin > 0 && ends_pair) ||
        (code.position == end && end < text.size() && !ends_pair)) {
      continue;
    }
    write_text(code.position);
    const Part& own = source.codes[translation.code_of[j]];
    parts.back().text += own.text;
    parts.back().range = own.range;
    parts.emplace_back();
  }
  write_text(end);
  return parts;
}

void TextFile::add(std::vector<Item> items) {
  if (auto text = text_of(input_, std::move(items), syntax_)) texts_.push_back(*std::move(text));
}

void TextFile::edit(std::size_t text, const FittedTranslation& translation, std::vector<Edit>& edits) const {
  edits.push_back({.range = texts_[text].range, .parts = parts_of(translation, texts_[text])});
}

std::string TextFile::with(std::vector<Edit> edits) const {
  std::string written = with_edits(input_.bytes, std::move(edits));
  if (syntax_.is_xml) XmlTokens({.bytes = written, .name = fmt::format("{}: its translation", input_.name)});
  return written;
}

std::vector<Line> lines_of(std::string_view bytes) {
  std::vector<Line> lines;
  for (std::size_t begin = bytes.starts_with("\ufeff") ? 3 : 0; begin < bytes.size();) {
    const std::size_t end = std::min(bytes.find_first_of("\r\n", begin), bytes.size());
    poll_cancelled();
    const std::size_t next = std::min(bytes.size(), end + (bytes.substr(end).starts_with("\r\n") ? 2 : 1));
    lines.push_back({.text = bytes.substr(begin, end - begin), .begin = begin, .end = end, .next = next});
    begin = next;
  }
  return lines;
}

void InputFile::count(std::size_t memory) const {
  poll_cancelled();
  if (options.on_memory) options.on_memory(memory);
}

void InputFile::refuse_at(std::size_t byte, std::string_view what) const {
  byte = std::min(byte, bytes.size());
  const std::size_t line_end = byte == 0 ? bytes.npos : bytes.rfind('\n', byte - 1);
  const std::size_t column = line_end == bytes.npos ? byte + 1 : byte - line_end;
  refuse(name, "line {}, column {}: {}", 1 + std::ranges::count(bytes.substr(0, byte), '\n'), column, what);
}

void InputFile::check_encoding() const {
  if (bytes.starts_with("\xff\xfe") || bytes.starts_with("\xfe\xff")) refuse_at(0, "UTF-16, expected UTF-8");
  const auto byte = find_invalid_utf8(bytes);
  if (!byte) return;
  refuse_at(*byte, fmt::format("byte {} is {:#04x}, expected UTF-8", *byte, static_cast<unsigned char>(bytes[*byte])));
}

std::size_t columns(std::string_view text) {
  std::size_t sum = 0;
  for (const CodePoint& c : code_points(text)) {
    const int width = u_getIntPropertyValue(static_cast<UChar32>(c.value), UCHAR_EAST_ASIAN_WIDTH);
    sum += width == U_EA_WIDE || width == U_EA_FULLWIDTH ? 2 : 1;
  }
  return sum;
}

bool is_cjk(std::string_view language) {
  const std::string_view code = language.substr(0, language.find_first_of("-_"));
  return code == "zh" || code == "ja" || code == "ko";
}

}  // namespace encdec::documents
