// Plain text: paragraphs with empty lines between them.
#include "encdec/models/translation/documents/text_file.h"

namespace encdec::documents {
namespace {

// Returns a text with the ends of lines as LF.
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

}  // namespace

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

}  // namespace encdec::documents
