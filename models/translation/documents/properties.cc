// Java's resource bundles (java.util.Properties). A file with bytes that are not UTF-8 is ISO 8859-1. New characters
// outside of ASCII are written as UTF-8 if the file has some already, as \uXXXX otherwise.
#include <fmt/format.h>

#include <algorithm>

#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/models/translation/documents/text_file.h"

namespace encdec::documents {
namespace {

constexpr std::string_view kPropertyBlanks = " \t\f";

// Returns a value without escapes and ends of lines.
std::string unescaped(std::string_view raw) {
  std::string plain;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\' || i + 1 == raw.size()) {
      plain += raw[i];
    } else if (const std::size_t size = take_unicode_escape(raw.substr(i), plain)) {
      i += size - 1;
    } else if (raw[++i] == '\r' || raw[i] == '\n') {  // the value goes on in the next line
      if (raw.substr(i).starts_with("\r\n")) ++i;
      i = std::min(raw.find_first_not_of(kPropertyBlanks, i + 1), raw.size()) - 1;
    } else {
      constexpr std::string_view kNames = "ntrf", kPlain = "\n\t\r\f";
      const std::size_t name = kNames.find(raw[i]);
      plain += name == kNames.npos ? raw[i] : kPlain[name];
    }
  }
  return plain;
}

std::string escaped(std::string_view text, bool is_utf8) {
  std::string raw;
  for (const CodePoint& c : code_points(with_backslashes(text, "\n\t\r\\", "ntr\\"))) {
    const auto value = static_cast<unsigned>(c.value);
    if (value < 0x80 || is_utf8) {
      append_utf8(raw, c.value);
    } else if (value < 0x10000) {
      raw += fmt::format("\\u{:04x}", value);
    } else {
      raw += fmt::format("\\u{:04x}\\u{:04x}", 0xd800 + ((value - 0x10000) >> 10), 0xdc00 + (value & 0x3ffu));
    }
  }
  return raw.starts_with(' ') ? "\\" + raw : raw;
}

// Returns a text with one apostrophe for each two; nullopt if one stands alone.
std::optional<std::string> with_single_quotes(std::string_view text) {
  std::string single;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\'' && !text.substr(++i).starts_with('\'')) return std::nullopt;
    single += text[i];
  }
  return single;
}

class Properties final : public TextFile {
 public:
  explicit Properties(const InputFile& input)
      : TextFile(input, {}), is_latin_(find_invalid_utf8(input.bytes).has_value()) {
    const std::string_view bytes = input.bytes;
    is_utf8_ = !is_latin_ && std::ranges::any_of(bytes, [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
    const std::vector<Line> lines = lines_of(bytes);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::size_t begin = std::min(bytes.find_first_not_of(kPropertyBlanks, lines[i].begin), lines[i].end);
      if (begin == lines[i].end || bytes[begin] == '#' || bytes[begin] == '!') continue;
      while (i + 1 < lines.size() && is_continued(lines[i].text)) ++i;
      add_value(begin, lines[i].end);
    }
  }

  void edit(std::size_t text, const FittedTranslation& translation, std::vector<Edit>& edits) const override {
    std::string value;
    for (const char c : value_of(translation, texts_[text])) {
      value += has_quotes_[text] && c == '\'' ? "''" : std::string(1, c);
    }
    edits.push_back({.range = texts_[text].range, .pieces = {{.text = escaped(value, is_utf8_)}}});
  }

 private:
  static bool is_continued(std::string_view line) { return (line.size() - (line.find_last_not_of('\\') + 1)) % 2 == 1; }

  void add_value(std::size_t begin, std::size_t end) {
    const std::string_view bytes = input_.bytes;
    std::size_t place = begin;
    while (place < end && std::string_view("=: \t\f").find(bytes[place]) == std::string_view::npos) {
      place += bytes[place] == '\\' ? 2 : 1;
    }
    const auto skip_spaces = [&] { place = std::min(bytes.find_first_not_of(kPropertyBlanks, place), end); };
    skip_spaces();
    if (place < end && (bytes[place] == '=' || bytes[place] == ':')) ++place;
    skip_spaces();
    std::string raw;
    for (std::size_t i = place; i < end; ++i) {
      if (is_latin_) {
        append_utf8(raw, static_cast<unsigned char>(bytes[i]));
      } else {
        raw += bytes[i];
      }
    }
    const std::string value = unescaped(raw);
    // MessageFormat, which a value with arguments is for, doubles apostrophes.
    const auto single = value.find("{0") == std::string::npos ? std::nullopt : with_single_quotes(value);
    Text text = text_of_value(single.value_or(value), {place, end},
                              {.percent = true, .braces = true, .dollars = true, .markup = true});
    if (!has_letters(text.segment.text)) return;
    texts_.push_back(std::move(text));
    has_quotes_.push_back(single.has_value());
  }

  bool is_latin_ = false;         // ISO 8859-1
  bool is_utf8_ = false;          // UTF-8 with characters outside of ASCII
  std::vector<bool> has_quotes_;  // one for each text: apostrophes are doubled
};

}  // namespace

std::unique_ptr<TextFile> read_properties(const InputFile& input) {
  return std::make_unique<Properties>(input);
}

}  // namespace encdec::documents
