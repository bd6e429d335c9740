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

class PlainText final : public ReplacingFile {
 public:
  explicit PlainText(std::string_view bytes)
      : ReplacingFile(bytes, bytes.find("\r\n") == bytes.npos ? no_escape : with_carriage_returns, Nesting::free) {
    ByteRange paragraph;
    const auto end_paragraph = [&] {
      auto text = text_of(bytes, {{.kind = Item::Kind::text, .range = paragraph}}, with_line_feeds, Spaces::trim);
      if (text) texts_.push_back(*std::move(text));
      paragraph = {};
    };
    for (const Line& line : lines_of(bytes)) {
      const std::size_t begin = line.begin == 0 && line.text.starts_with("\xef\xbb\xbf") ? 3 : line.begin;
      if (line.text.find_first_not_of(" \t\f") == line.text.npos) {
        end_paragraph();
      } else {
        paragraph = {paragraph.end == 0 ? begin : paragraph.begin, line.end};
      }
    }
    end_paragraph();
  }
};

}  // namespace

std::unique_ptr<TextFile> read_text(std::string_view bytes, const std::string& /*name*/,
                                    const DocumentOptions& /*options*/) {
  return std::make_unique<PlainText>(bytes);
}

}  // namespace encdec::documents
