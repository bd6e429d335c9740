#include "encdec/models/translation/documents/text_file.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/models/translation/documents/placeholders.h"

namespace encdec::documents {
namespace {

class EditedFile {
 public:
  EditedFile(std::string_view file, const std::vector<Edit>& edits) : file_(file), edits_(edits) {}

  // Writes a range with the edits inside it, from edit number `first` on.
  void copy(ByteRange range, std::size_t first) {
    std::size_t place = range.begin;
    const auto begins_before = [](const Edit& edit, std::size_t begin) { return edit.range.begin < begin; };
    auto edit =
        std::lower_bound(edits_.begin() + static_cast<std::ptrdiff_t>(first), edits_.end(), place, begins_before);
    for (; edit != edits_.end() && (edit->range.begin < range.end || range.end == file_.size()); ++edit) {
      if (edit->range.begin < place || edit->range.end > range.end) continue;
      written_ += file_.substr(place, edit->range.begin - place);
      for (const Piece& piece : edit->pieces) {
        written_ += piece.text;
        if (piece.range.begin < piece.range.end) {
          copy(piece.range, static_cast<std::size_t>(edit - edits_.begin()) + 1);
        }
      }
      place = edit->range.end;
    }
    written_ += file_.substr(place, range.end - place);
  }
  std::string take() { return std::move(written_); }

 private:
  std::string_view file_;
  const std::vector<Edit>& edits_;
  std::string written_;
};

bool is_blank(std::string_view text) {
  return text.find_first_not_of(kWhiteSpace) == text.npos;
}

void collapse_spaces(std::string& text) {
  std::size_t size = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_space = kWhiteSpace.find(text[i]) != kWhiteSpace.npos;
    if (is_space && i > 0 && kWhiteSpace.find(text[i - 1]) != kWhiteSpace.npos) continue;
    text[size++] = is_space ? ' ' : text[i];
    if (is_space) text[i] = ' ';
  }
  text.resize(size);
}

// Returns the markup of a code: its bytes. Those of a large element, which may have paragraphs in it, are cut off.
std::string shown(std::string_view content) {
  constexpr std::size_t kMostBytes = 1000;
  if (content.size() <= kMostBytes) return std::string(content);
  std::size_t end = kMostBytes;
  while (is_continuation(content[end])) --end;
  return std::string(content.substr(0, end));
}

// Returns the items without the codes and spaces at both ends. Both or none of the codes of a pair are left out.
ByteRange without_ends(std::string_view bytes, const std::vector<Item>& items) {
  const auto is_outside = [&](const Item& item) {
    if (item.is_fixed || item.kind == Item::Kind::placeholder) return false;
    return item.kind != Item::Kind::text ||
           is_blank(bytes.substr(item.content.begin, item.content.end - item.content.begin));
  };
  std::size_t begin = 0, end = items.size();
  while (begin < end && is_outside(items[begin])) ++begin;
  while (end > begin && is_outside(items[end - 1])) --end;
  constexpr int kMostRounds = 8;
  for (int round = 0; round < kMostRounds; ++round) {
    const ByteRange before = {begin, end};
    const auto is_inside = [&](const Item& item) {
      return item.partner && *item.partner >= begin && *item.partner < end;
    };
    for (std::size_t i = 0; i < begin; ++i) {
      if (is_inside(items[i])) begin = i;
    }
    for (std::size_t i = items.size(); i > end; --i) {
      if (is_inside(items[i - 1])) end = i;
    }
    if (before.begin == begin && before.end == end) return before;
  }
  return {0, items.size()};
}

// A code that is one tag whose other tag is not in the text.
bool is_half_element(const InlineCode& code) {
  const std::string_view markup = code.markup;
  return !code.partner && markup.starts_with('<') && markup.find('>') == markup.size() - 1 && !markup.ends_with("/>") &&
         !markup.starts_with("<!") && !markup.starts_with("<?");
}

std::string reason_of_places(const Segment& text) {
  if (find_invalid_utf8(text.text)) return "the text is not UTF-8";
  for (std::size_t i = 0; i < text.text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text.text[i]);
    if ((c < 0x20 && kWhiteSpace.find(text.text[i]) == kWhiteSpace.npos) || c == 0x0c)
      return "the text has a control character";
    if (c == 0xef && (text.text.compare(i, 3, "\xef\xbf\xbe") == 0 || text.text.compare(i, 3, "\xef\xbf\xbf") == 0)) {
      return "the text has the character U+FFFE or U+FFFF";
    }
  }
  std::size_t place = 0;
  bool is_good = true;
  const auto check = [&](std::size_t next) {
    is_good = is_good && next >= place && next <= text.text.size() &&
              (next == text.text.size() || !is_continuation(text.text[next]));
    place = next;
  };
  for (const InlineCode& code : text.codes) check(code.place);
  place = 0;
  for (const Placeholder& placeholder : text.placeholders) {
    check(placeholder.begin);
    check(placeholder.end);
  }
  place = 0;
  for (const Cut& cut : text.cuts) check(cut.place);
  return is_good ? "" : "places of codes, placeholders or cuts are not in order or not in the text";
}

std::string reason_of_placeholders(const Segment& source, const Segment& translation) {
  std::map<std::pair<std::string, std::string>, int> left;
  const auto key = [](const Segment& text, const Placeholder& placeholder) {
    return std::pair(text.text.substr(placeholder.begin, placeholder.end - placeholder.begin),
                     placeholder.markup.value_or(""));
  };
  for (const Placeholder& placeholder : source.placeholders) ++left[key(source, placeholder)];
  for (const Placeholder& placeholder : translation.placeholders) --left[key(translation, placeholder)];
  for (const auto& [name, count] : left) {
    const std::string_view shown = name.second.empty() ? name.first : name.second;
    if (count != 0) return fmt::format("placeholder '{}' is {}", printable(shown), count > 0 ? "missing" : "new");
  }
  return "";
}

// Gives each code of a translation the first code of the source with the same markup that is left.
std::vector<std::optional<std::size_t>> matching_codes(const Segment& source, const Segment& translation) {
  std::map<std::string_view, std::vector<std::size_t>> left;
  for (std::size_t i = source.codes.size(); i-- > 0;) left[source.codes[i].markup].push_back(i);
  std::vector<std::optional<std::size_t>> matching;
  for (const InlineCode& code : translation.codes) {
    const auto found = left.find(code.markup);
    const bool is_there = found != left.end() && !found->second.empty();
    matching.push_back(is_there ? std::optional(found->second.back()) : std::nullopt);
    if (is_there) found->second.pop_back();
  }
  return matching;
}

// Removes the space beside each code of a line break. It stands for the break, which the code writes.
void remove_spaces_at_breaks(const Segment& source, FittedTranslation& translation) {
  Segment& segment = translation.segment;
  const auto is_space = [&](std::size_t i) {
    return i < segment.text.size() && kWhiteSpace.find(segment.text[i]) != kWhiteSpace.npos;
  };
  std::vector<std::size_t> removed;  // places, in order
  for (std::size_t j = 0; j < segment.codes.size(); ++j) {
    const std::size_t old = source.codes[translation.code_of[j]].place, place = segment.codes[j].place;
    if (old >= source.text.size() || source.text[old] != '\n' || source.codes[translation.code_of[j]].partner) continue;
    const auto is_free = [&](std::size_t i) { return is_space(i) && (removed.empty() || removed.back() < i); };
    if (is_free(place)) {
      removed.push_back(place);
    } else if (place > 0 && is_free(place - 1)) {
      removed.push_back(place - 1);
    }
  }
  if (removed.empty()) return;
  std::string text;
  std::size_t begin = 0;
  for (const std::size_t place : removed) {
    text += segment.text.substr(begin, place - begin);
    begin = place + 1;
  }
  segment.text = text + segment.text.substr(begin);
  const auto move = [&removed](std::size_t& place) {
    place -= static_cast<std::size_t>(std::ranges::lower_bound(removed, place) - removed.begin());
  };
  for (InlineCode& code : segment.codes) move(code.place);
  for (Placeholder& placeholder : segment.placeholders) move(placeholder.begin), move(placeholder.end);
  for (Cut& cut : segment.cuts) move(cut.place);
}

bool is_nested(const Segment& source, const std::vector<std::size_t>& code_of) {
  std::vector<std::string_view> open;  // markups that end the open pairs
  std::size_t last_half = 0;
  for (const std::size_t i : code_of) {
    const InlineCode& code = source.codes[i];
    if (is_half_element(code)) {
      if (!open.empty() || i < last_half) return false;
      last_half = i;
    } else if (code.partner && *code.partner > i) {
      open.push_back(source.codes[*code.partner].markup);
    } else if (code.partner) {
      if (open.empty() || open.back() != code.markup) return false;
      open.pop_back();
    }
  }
  return open.empty();
}

}  // namespace

std::string with_edits(std::string_view file, std::vector<Edit> edits) {
  // At one place insertions come first, then the largest range.
  const auto key = [&file](const Edit& edit) {
    return std::tuple(edit.range.begin, edit.range.begin != edit.range.end, file.size() - edit.range.end);
  };
  std::ranges::stable_sort(edits, {}, key);
  EditedFile edited(file, edits);
  edited.copy({0, file.size()}, 0);
  return edited.take();
}

bool has_letters(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const Character c = first_character(text.substr(i));
    const bool is_ascii_letter = (c.value | 0x20) >= 'a' && (c.value | 0x20) <= 'z';
    const bool is_sign = c.value < 0xc0 || c.value == 0xd7 || c.value == 0xf7 ||
                         (c.value >= 0x2000 && c.value < 0x2c00) || (c.value >= 0x3000 && c.value < 0x3021) ||
                         c.value >= 0x1f000 || c.value == 0xfeff;
    if (is_ascii_letter || (!is_sign && c.value >= 0xc0)) return true;
    i += c.bytes;
  }
  return false;
}

std::optional<Text> text_of(std::string_view bytes, std::vector<Item> items, Unescape unescape, Spaces spaces) {
  const ByteRange kept = without_ends(bytes, items);
  if (kept.begin == kept.end) return std::nullopt;
  Item &first = items[kept.begin], &last = items[kept.end - 1];
  if (spaces != Spaces::keep && first.kind == Item::Kind::text) {
    first.content.begin = std::min(bytes.find_first_not_of(kWhiteSpace, first.content.begin), first.content.end);
    first.range.begin = first.content.begin;
  }
  if (spaces != Spaces::keep && last.kind == Item::Kind::text) {
    while (last.content.end > last.content.begin && kWhiteSpace.find(bytes[last.content.end - 1]) != kWhiteSpace.npos) {
      --last.content.end;
    }
    last.range.end = last.content.end;
  }
  Text text{.segment = {}, .range = {first.range.begin, last.range.end}};
  Segment& segment = text.segment;
  std::vector<std::size_t> number(items.size());  // indices of codes in the segment
  bool follows_single = false;                    // a code such as an image is between two texts
  for (std::size_t i = kept.begin; i < kept.end; ++i) {
    const Item& item = items[i];
    const std::string_view content = bytes.substr(item.content.begin, item.content.end - item.content.begin);
    const std::string_view whole = bytes.substr(item.range.begin, item.range.end - item.range.begin);
    if (item.kind == Item::Kind::single) follows_single = true;
    if (item.kind == Item::Kind::text) {
      std::string plain = unescape(content);
      if (spaces == Spaces::collapse) {
        collapse_spaces(plain);
        const bool follows_space = segment.text.ends_with(' ') || segment.text.ends_with('\n');
        if (plain.starts_with(' ') && follows_space && !follows_single) plain.erase(0, 1);
      }
      segment.text += plain;
      follows_single = false;
    } else if (item.kind == Item::Kind::placeholder) {
      const std::size_t begin = segment.text.size();
      segment.text += unescape(content);
      segment.placeholders.push_back({.begin = begin, .end = segment.text.size(), .markup = std::string(whole)});
    } else {
      number[i] = segment.codes.size();
      InlineCode code{.place = segment.text.size(), .markup = item.markup.empty() ? shown(content) : item.markup};
      if (item.partner && *item.partner >= kept.begin && *item.partner < i) {
        code.partner = number[*item.partner];
        segment.codes[*code.partner].partner = number[i];
      }
      segment.codes.push_back(std::move(code));
      text.codes.push_back(item.markup.empty() ? Piece{.range = item.content} : Piece{.text = item.markup});
      if (item.is_break) {
        segment.text += '\n';
        follows_single = false;
      }
    }
  }
  if (!has_letters(segment.text)) return std::nullopt;
  add_placeholders(segment, {});
  return text;
}

std::variant<FittedTranslation, std::string> fit(const Segment& source, const Segment& translation, Nesting nesting) {
  std::string reason = reason_of_places(translation);
  if (reason.empty()) reason = reason_of_placeholders(source, translation);
  if (!reason.empty()) return reason;
  auto matching = matching_codes(source, translation);
  std::vector<bool> is_there(source.codes.size());
  for (const auto& i : matching) {
    if (i) is_there[*i] = true;
  }
  // A pair of which one code is missing is moved to the end.
  const auto is_whole = [&](std::size_t i) {
    const auto partner = source.codes[i].partner;
    return is_there[i] && (!partner || is_there[*partner]);
  };
  FittedTranslation fitting{.segment = translation, .code_of = {}};
  fitting.segment.codes.clear();
  const auto add = [&](std::size_t place, std::size_t i) {
    fitting.segment.codes.push_back({.place = place, .markup = source.codes[i].markup});
    fitting.code_of.push_back(i);
  };
  for (std::size_t j = 0; j < matching.size(); ++j) {
    if (matching[j] && is_whole(*matching[j])) add(translation.codes[j].place, *matching[j]);
  }
  for (std::size_t i = 0; i < source.codes.size(); ++i) {
    if (!is_whole(i)) add(translation.text.size(), i);
  }
  if (nesting == Nesting::strict && !is_nested(source, fitting.code_of)) {
    return "the codes are not nested as in the source";
  }
  std::vector<std::size_t> number(source.codes.size());
  for (std::size_t j = 0; j < fitting.code_of.size(); ++j) number[fitting.code_of[j]] = j;
  for (std::size_t j = 0; j < fitting.code_of.size(); ++j) {
    const auto partner = source.codes[fitting.code_of[j]].partner;
    if (partner) fitting.segment.codes[j].partner = number[*partner];
  }
  remove_spaces_at_breaks(source, fitting);
  return fitting;
}

std::vector<Piece> pieces_of(const FittedTranslation& translation, const Text& source, Escape escape, std::size_t begin,
                             std::size_t end) {
  const Segment& segment = translation.segment;
  end = std::min(end, segment.text.size());
  std::vector<Piece> pieces(1);
  std::size_t place = begin;
  auto placeholder = std::ranges::find_if(segment.placeholders, [&](const auto& p) { return p.begin >= begin; });
  const auto write_text = [&](std::size_t until) {
    for (; placeholder != segment.placeholders.end() && placeholder->end <= until; ++placeholder) {
      const std::string_view own =
          std::string_view(segment.text).substr(placeholder->begin, placeholder->end - placeholder->begin);
      if (placeholder->begin < place) continue;
      pieces.back().text += escape(std::string_view(segment.text).substr(place, placeholder->begin - place));
      pieces.back().text += placeholder->markup ? *placeholder->markup : escape(own);
      place = placeholder->end;
    }
    if (until > place) pieces.back().text += escape(std::string_view(segment.text).substr(place, until - place));
    place = std::max(place, until);
  };
  for (std::size_t j = 0; j < segment.codes.size(); ++j) {
    const InlineCode& code = segment.codes[j];
    const bool ends_pair = code.partner && *code.partner < j && segment.codes[*code.partner].place < code.place;
    if (code.place < begin || code.place > end || (code.place == begin && begin > 0 && ends_pair) ||
        (code.place == end && end < segment.text.size() && !ends_pair)) {
      continue;
    }
    write_text(code.place);
    const Piece& own = source.codes[translation.code_of[j]];
    pieces.back().text += own.text;
    pieces.back().range = own.range;
    pieces.emplace_back();
  }
  write_text(end);
  return pieces;
}

std::string ReplacingFile::edit(std::size_t text, const FittedTranslation& translation,
                                std::vector<Edit>& edits) const {
  edits.push_back({.range = texts_[text].range, .pieces = pieces_of(translation, texts_[text], escape_)});
  return "";
}

TextFile::TextFile(std::string_view bytes) : bytes_(bytes) {
  for (std::size_t end = bytes.find('\n'); end != bytes.npos; end = bytes.find('\n', end + 1))
    line_ends_.push_back(end);
}

std::string TextFile::where(std::size_t text) const {
  const auto line = std::ranges::lower_bound(line_ends_, texts_.at(text).range.begin);
  return fmt::format("line {}", line - line_ends_.begin() + 1);
}

std::vector<Line> lines_of(std::string_view bytes) {
  std::vector<Line> lines;
  for (std::size_t begin = 0; begin < bytes.size();) {
    const std::size_t end = std::min(bytes.find_first_of("\r\n", begin), bytes.size());
    const std::size_t next = std::min(bytes.size(), end + (bytes.substr(end).starts_with("\r\n") ? 2 : 1));
    lines.push_back({.text = bytes.substr(begin, end - begin), .begin = begin, .end = end, .next = next});
    begin = next;
  }
  return lines;
}

void refuse_at(const std::string& name, std::string_view bytes, std::size_t byte, std::string_view what) {
  byte = std::min(byte, bytes.size());
  const std::size_t line_end = byte == 0 ? bytes.npos : bytes.rfind('\n', byte - 1);
  const std::size_t column = line_end == bytes.npos ? byte + 1 : byte - line_end;
  refuse(name, "line {}, column {}: {}", 1 + std::ranges::count(bytes.substr(0, byte), '\n'), column, what);
}

std::string with_backslashes(std::string_view text, std::string_view escaped, std::string_view names) {
  std::string result;
  for (const char c : text) {
    const std::size_t i = escaped.find(c);
    if (i != escaped.npos) result += '\\';
    result += i != escaped.npos ? names[i] : c;
  }
  return result;
}

std::size_t columns(std::string_view text, std::size_t wide) {
  std::size_t sum = 0;
  for (std::size_t i = 0; i < text.size();) {
    const Character c = first_character(text.substr(i));
    const bool is_wide = (c.value >= 0x1100 && c.value < 0x1160) || (c.value >= 0x2e80 && c.value < 0xa4d0) ||
                         (c.value >= 0xac00 && c.value < 0xd7a4) || (c.value >= 0xf900 && c.value < 0xfb00) ||
                         (c.value >= 0xfe30 && c.value < 0xfe70) || (c.value >= 0xff00 && c.value < 0xff61) ||
                         (c.value >= 0xffe0 && c.value < 0xffe7) || (c.value >= 0x20000 && c.value < 0x40000);
    sum += is_wide ? wide : 1;
    i += c.bytes;
  }
  return sum;
}

bool has_no_spaces(std::string_view language) {
  const std::string_view code = language.substr(0, language.find_first_of("-_"));
  return code == "zh" || code == "ja" || code == "ko";
}

}  // namespace encdec::documents
