// Java's resource bundles (java.util.Properties). A file with bytes that are not UTF-8 is ISO 8859-1. New characters
// outside of ASCII are written as UTF-8 if the file has some already, as \uXXXX otherwise.
#include <fmt/format.h>

#include <charconv>

#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/models/translation/documents/placeholders.h"
#include "encdec/models/translation/documents/text_file.h"

namespace encdec::documents {
namespace {

constexpr std::string_view kPropertyBlanks = " \t\f";

// Reads the 4 digits of \uXXXX at the beginning of `text`.
std::optional<char32_t> unit_of(std::string_view text) {
  unsigned unit = 0;
  if (text.size() < 4 || std::from_chars(text.data(), text.data() + 4, unit, 16).ptr != text.data() + 4)
    return std::nullopt;
  return unit;
}

// Returns a value without escapes and ends of lines. `is_latin`: each byte is a character.
std::string unescaped(std::string_view raw, bool is_latin) {
  std::string plain;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    const char c = raw[i];
    if (c != '\\' || i + 1 == raw.size()) {
      if (is_latin) {
        append_utf8(plain, static_cast<unsigned char>(c));
      } else {
        plain += c;
      }
      continue;
    }
    const char escape = raw[++i];
    const auto unit = escape == 'u' ? unit_of(raw.substr(i + 1)) : std::nullopt;
    if (unit) {
      char32_t character = *unit;
      i += 4;
      const bool has_pair = raw.substr(i + 1).starts_with("\\u");
      const auto low =
          character >= 0xd800 && character < 0xdc00 && has_pair ? unit_of(raw.substr(i + 3)) : std::nullopt;
      if (low && *low >= 0xdc00 && *low < 0xe000) {
        character = 0x10000 + ((character - 0xd800) << 10) + (*low - 0xdc00);
        i += 6;
      }
      append_utf8(plain, character >= 0xd800 && character < 0xe000 ? U'\ufffd' : character);
    } else if (escape == '\r' || escape == '\n') {  // the value goes on in the next line
      if (escape == '\r' && raw.substr(i + 1).starts_with('\n')) ++i;
      i = std::min(raw.find_first_not_of(kPropertyBlanks, i + 1), raw.size()) - 1;
    } else {
      constexpr std::string_view kNames = "ntrf", kPlain = "\n\t\r\f";
      const std::size_t name = kNames.find(escape);
      plain += name == kNames.npos ? escape : kPlain[name];
    }
  }
  return plain;
}

std::string escaped(std::string_view text, bool is_utf8) {
  std::string raw;
  for (std::size_t i = 0; i < text.size();) {
    const Character c = first_character(text.substr(i));
    constexpr std::string_view kPlain = "\n\t\r\\", kNames = "ntr\\";
    const std::size_t name = c.value < 0x80 ? kPlain.find(text[i]) : kPlain.npos;
    if (name != kPlain.npos) {
      raw += '\\';
      raw += kNames[name];
    } else if (c.value < 0x80 || is_utf8) {
      raw += text.substr(i, c.bytes);
    } else if (c.value < 0x10000) {
      raw += fmt::format("\\u{:04x}", static_cast<unsigned>(c.value));
    } else {
      const unsigned rest = static_cast<unsigned>(c.value) - 0x10000;
      raw += fmt::format("\\u{:04x}\\u{:04x}", 0xd800 + (rest >> 10), 0xdc00 + (rest & 0x3ffu));
    }
    i += c.bytes;
  }
  return raw.starts_with(' ') ? "\\" + raw : raw;
}

// Returns a text with each `old` replaced.
std::string replaced(std::string_view text, std::string_view old, std::string_view by) {
  std::string changed;
  std::size_t begin = 0;
  for (std::size_t i = text.find(old); i != text.npos; i = text.find(old, begin)) {
    changed.append(text.substr(begin, i - begin)).append(by);
    begin = i + old.size();
  }
  return changed.append(text.substr(begin));
}

class Properties final : public TextFile {
 public:
  explicit Properties(std::string_view bytes) : TextFile(bytes), is_latin_(find_invalid_utf8(bytes).has_value()) {
    for (const char c : bytes) is_utf8_ = is_utf8_ || (static_cast<unsigned char>(c) >= 0x80 && !is_latin_);
    const std::vector<Line> lines = lines_of(bytes);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::size_t begin =
          lines[i].begin + std::min(lines[i].text.find_first_not_of(kPropertyBlanks), lines[i].text.size());
      if (begin == lines[i].end || bytes[begin] == '#' || bytes[begin] == '!') continue;
      while (i + 1 < lines.size() && is_continued(lines[i].text)) ++i;
      add(begin, lines[i].end);
    }
  }

  std::string edit(std::size_t text, const FittedTranslation& translation, std::vector<Edit>& edits) const override {
    std::string plain = pieces_of(translation, texts_[text], no_escape).front().text;
    if (has_quotes_[text]) plain = replaced(plain, "'", "''");
    edits.push_back({.range = texts_[text].range, .pieces = {{.text = escaped(plain, is_utf8_)}}});
    return "";
  }

 private:
  static bool is_continued(std::string_view line) {
    const std::size_t last = line.find_last_not_of('\\');
    return (line.size() - (last == line.npos ? 0 : last + 1)) % 2 == 1;
  }

  void add(std::size_t begin, std::size_t end) {
    std::size_t place = begin;
    while (place < end && std::string_view("=: \t\f").find(bytes_[place]) == std::string_view::npos) {
      place += bytes_[place] == '\\' ? 2 : 1;
    }
    const auto skip_spaces = [&] {
      place = std::min({bytes_.find_first_not_of(kPropertyBlanks, place), end, bytes_.size()});
    };
    skip_spaces();
    if (place < end && (bytes_[place] == '=' || bytes_[place] == ':')) ++place;
    skip_spaces();
    const std::string_view raw = bytes_.substr(place, end - place);
    Segment segment{.text = unescaped(raw, is_latin_)};
    // MessageFormat, which a value with arguments is for, doubles apostrophes.
    const std::string without_quotes = replaced(segment.text, "''", "\x01");
    const bool has_quotes =
        segment.text.find("{0") != segment.text.npos && without_quotes.find('\'') == segment.text.npos;
    if (has_quotes) segment.text = replaced(without_quotes, "\x01", "'");
    if (!has_letters(segment.text)) return;
    add_placeholders(segment, {.percent = true, .braces = true, .dollars = true});
    texts_.push_back({.segment = std::move(segment), .range = {place, end}});
    has_quotes_.push_back(has_quotes);
  }

  bool is_latin_ = false;         // ISO 8859-1
  bool is_utf8_ = false;          // UTF-8 with characters outside of ASCII
  std::vector<bool> has_quotes_;  // one for each text: apostrophes are doubled
};

}  // namespace

std::unique_ptr<TextFile> read_properties(std::string_view bytes, const std::string& /*name*/,
                                          const DocumentOptions& /*options*/) {
  return std::make_unique<Properties>(bytes);
}

}  // namespace encdec::documents
