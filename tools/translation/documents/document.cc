#include "encdec/translation/documents/document.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/translation/documents/text_file.h"
#include "encdec/translation/text/word_list.h"

namespace encdec {

using namespace documents;

namespace {

// Returns a text with all line ends converted to LF.
std::string with_line_feeds(std::string_view text) {
  std::string plain;
  for (const Line& line : lines_of(text)) {
    plain += line.text;
    if (line.next > line.end) plain += '\n';
  }
  return plain;
}

std::string with_carriage_returns(std::string_view text) {
  std::string lines;
  for (const char c : text) lines += c == '\n' ? "\r\n" : std::string(1, c);
  return lines;
}

// Reads plain text. Blank lines separate the paragraphs, each of which is one text.
std::unique_ptr<TextFile> read_text(const InputFile& input) {
  const Convert escape = input.bytes.find("\r\n") == input.bytes.npos ? unchanged : with_carriage_returns;
  auto file =
      std::make_unique<TextFile>(input, Syntax{.unescape = with_line_feeds, .escape = escape, .spaces = Spaces::trim});
  ByteRange paragraph;
  const auto end_paragraph = [&] {
    file->add({{.kind = Item::Kind::text, .range = paragraph}});
    paragraph = {};
  };
  for (const Line& line : lines_of(input.bytes)) {
    if (line.text.find_first_not_of(" \t\f") == line.text.npos) {
      end_paragraph();
    } else {
      paragraph = {paragraph.end == 0 ? line.begin : paragraph.begin, line.end};
    }
  }
  end_paragraph();
  return file;
}

struct FormatRow {
  DocumentFormat format;
  std::string_view extensions;
  std::string_view media_type;
  ReadTexts* read;
};

constexpr std::array kRows = {
    FormatRow{DocumentFormat::text, "txt text", "text/plain; charset=utf-8", read_text},
    FormatRow{DocumentFormat::html, "html htm", "text/html; charset=utf-8", read_html},
    FormatRow{DocumentFormat::html, "xhtml xht", "application/xhtml+xml", read_html},
    FormatRow{DocumentFormat::srt, "srt", "application/x-subrip; charset=utf-8", read_srt},
    FormatRow{DocumentFormat::vtt, "vtt", "text/vtt; charset=utf-8", read_vtt},
    FormatRow{DocumentFormat::po, "po pot", "text/x-gettext-translation; charset=utf-8", read_po},
    FormatRow{DocumentFormat::xliff, "xlf xliff", "application/xliff+xml", read_xliff},
};

// Returns the row for the extension of a file name, or null if the extension is unknown.
const FormatRow* row_of(std::string_view file_name) {
  const std::size_t dot = file_name.rfind('.');
  if (dot == file_name.npos || file_name.find_first_of("/ ", dot) != file_name.npos) return nullptr;
  const std::string extension = lower_case(file_name.substr(dot + 1));
  const auto row = std::ranges::find_if(kRows, [&](const FormatRow& r) { return has_word(r.extensions, extension); });
  return row == kRows.end() ? nullptr : &*row;
}

}  // namespace

struct Document::Content {
  explicit Content(std::string file_bytes) : bytes(std::move(file_bytes)) {}

  // Stores the texts that a reader found in `bytes`, and computes their line numbers.
  void take(std::unique_ptr<TextFile> texts) {
    file = std::move(texts);
    file->end_reading();
    std::size_t line = 1, position = 0;
    for (const Text& text : file->texts()) {
      const std::size_t begin = std::max(position, text.range.begin);
      line += static_cast<std::size_t>(std::ranges::count(ByteRange{position, begin}.of(file->bytes()), '\n'));
      position = begin;
      segments.push_back(text.segment);
      lines.push_back(line);
    }
  }

  const std::string bytes;
  std::unique_ptr<TextFile> file;
  std::vector<Segment> segments;   // the segment of each text
  std::vector<std::size_t> lines;  // line number of each text, from 1
};

std::optional<DocumentFormat> format_of(std::string_view file_name) {
  const FormatRow* row = row_of(file_name);
  return row == nullptr ? std::nullopt : std::optional(row->format);
}

std::string_view media_type_of(std::string_view file_name) {
  const FormatRow* row = row_of(file_name);
  return row == nullptr ? "application/octet-stream" : row->media_type;
}

DocumentFormat format_or_that_of(const std::string& file_name, const std::optional<DocumentFormat>& format) {
  if (format) return *format;
  if (const auto known = format_of(file_name)) return *known;
  refuse<InputError>(file_name,
                     "unknown file extension, expected a format: {}; translate-toolkit and po4a turn "
                     "other formats into po and xliff",
                     fmt::join(names_of(kDocumentFormats), ", "));
}

std::vector<std::string> document_extensions() {
  std::vector<std::string> all;
  for (const FormatRow& row : kRows) {
    any_word(row.extensions, [&all](std::string_view extension) {
      all.push_back(fmt::format(".{}", extension));
      return false;
    });
  }
  return all;
}

Document Document::parse(std::string bytes, DocumentFormat format, const std::string& name,
                         const DocumentOptions& options) {
  const auto content = std::make_shared<Content>(std::move(bytes));
  const InputFile input = {content->bytes, name, options};
  if (format != DocumentFormat::html) input.check_encoding();  // HTML may declare another charset
  content->take(std::ranges::find(kRows, format, &FormatRow::format)->read(input));
  return Document(content);
}

Document Document::parse_xml_text(std::string bytes, std::span<const std::string> kept, const std::string& name,
                                  const DocumentOptions& options) {
  const auto content = std::make_shared<Content>(std::move(bytes));
  const InputFile input = {content->bytes, name, options};
  input.check_encoding();
  content->take(read_xml_text(input, kept));
  return Document(content);
}

const std::vector<Segment>& Document::segments() const {
  return content_->segments;
}

std::string Document::where(std::size_t segment) const {
  return fmt::format("line {}", content_->lines.at(segment));
}

WrittenDocument Document::write(std::span<const Segment> translations) const {
  const auto& [bytes, file, segments, lines] = *content_;
  if (translations.size() != segments.size()) {
    throw InputError(
        fmt::format("{} translations, expected {}, one for each segment", translations.size(), segments.size()));
  }
  WrittenDocument written;
  std::vector<Edit> edits;
  for (std::size_t i = 0; i < translations.size(); ++i) {
    if (translations[i].text.empty() || (!file->has_targets() && translations[i] == segments[i])) continue;
    try {
      file->edit(i, fit(segments[i], translations[i], file->nesting()), edits);
    } catch (const UnusableTranslation& unusable) {
      written.unused.push_back({.segment = i, .reason = unusable.what()});
    }
  }
  if (edits.empty()) {
    written.bytes = bytes;
    return written;
  }
  file->edit_rest(edits);
  written.bytes = file->with(std::move(edits));
  return written;
}

}  // namespace encdec
