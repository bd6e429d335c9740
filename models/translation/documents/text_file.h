#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "encdec/models/translation/documents/document.h"
#include "encdec/models/translation/text/segment.h"

namespace encdec::documents {

inline constexpr std::string_view kWhiteSpace = " \t\r\n\f", kBlanks = " \t";

struct ByteRange {
  std::size_t begin = 0, end = 0;
};

// Bytes to write: `text`, then a range of the file, with the edits inside it.
struct Piece {
  std::string text = {};
  ByteRange range = {};
};

// Pieces that replace a range of the file.
struct Edit {
  ByteRange range;
  std::vector<Piece> pieces;
};

// Returns the file with edits. Two edits do not overlap, or one is inside a range that the other one copies; edits
// inside a range that is not copied are lost.
std::string with_edits(std::string_view file, std::vector<Edit> edits);

// A text of a file.
struct Text {
  Segment segment;
  ByteRange range;                // the bytes that a translation replaces
  std::vector<Piece> codes = {};  // bytes to write for the segment's codes
};

// A part of a paragraph: text or a code.
struct Item {
  enum class Kind : std::uint8_t { text, open, close, single, placeholder };

  Kind kind = Kind::text;
  ByteRange range;
  ByteRange content = range;                // the bytes of the text, or of the code
  std::optional<std::size_t> partner = {};  // index of the other code of a pair
  bool is_fixed = false;                    // the range of a text cannot begin or end beside this item
  bool is_break = false;                    // a code between two words: the text has "\n" behind it
  std::string markup = {};                  // written for a code instead of its bytes, unless empty
};

using Unescape = std::string (*)(std::string_view);
enum class Spaces : std::uint8_t {
  keep,      // all, also at the ends
  trim,      // drop those at the ends
  collapse,  // the same, and those between words are one space each
};

// Returns the text of a paragraph; nullopt if it has no letters. Codes at its ends are left out.
std::optional<Text> text_of(std::string_view bytes, std::vector<Item> items, Unescape unescape, Spaces spaces);

// Returns whether there is something to translate.
bool has_letters(std::string_view text);

// A translation that has every code of its segment once.
struct FittedTranslation {
  Segment segment;
  std::vector<std::size_t> code_of;  // for each code its index in the segment that was translated
};

// Whether the codes of a text are tags of XML, which must stay nested.
enum class Nesting : std::uint8_t { free, strict };

// Returns a translation with all codes, or the reason why it cannot be used.
std::variant<FittedTranslation, std::string> fit(const Segment& source, const Segment& translation, Nesting nesting);

using Escape = std::string (*)(std::string_view);
inline std::string no_escape(std::string_view text) {
  return std::string(text);
}

// Returns part [begin, end) of a translation: escaped text, placeholders, and codes as they are in the file. Of the
// codes between two parts, the ends of pairs belong to the first one and all others to the second one.
std::vector<Piece> pieces_of(const FittedTranslation& translation, const Text& source, Escape escape,
                             std::size_t begin = 0, std::size_t end = std::string::npos);

// The texts of a file, as the reader of its format found them.
class TextFile {
 public:
  explicit TextFile(std::string_view bytes);
  virtual ~TextFile() = default;
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;

  std::string_view bytes() const { return bytes_; }
  const std::vector<Text>& texts() const { return texts_; }
  virtual Nesting nesting() const { return Nesting::free; }
  // Whether translations are written beside their sources.
  virtual bool has_targets() const { return false; }
  virtual std::string where(std::size_t text) const;
  // Adds the edits of a translation. Returns the reason if it cannot be used; an empty string if it can.
  virtual std::string edit(std::size_t text, const FittedTranslation& translation, std::vector<Edit>& edits) const = 0;
  // Adds the edits of a document with at least one translation.
  virtual void edit_rest(std::vector<Edit>& /*edits*/) const {}

 protected:
  std::string_view bytes_;
  std::vector<Text> texts_;

 private:
  std::vector<std::size_t> line_ends_;
};

// A file whose texts are replaced by their translations.
class ReplacingFile : public TextFile {
 public:
  ReplacingFile(std::string_view bytes, Escape escape, Nesting nesting)
      : TextFile(bytes), escape_(escape), nesting_(nesting) {}

  Nesting nesting() const override { return nesting_; }
  std::string edit(std::size_t text, const FittedTranslation& translation, std::vector<Edit>& edits) const override;

 private:
  Escape escape_;
  Nesting nesting_;
};

// The readers. They throw FileError, which begins with `name`. REQUIRES: `bytes` outlive the result, and are UTF-8
// except for properties.
using ReadTexts = std::unique_ptr<TextFile>(std::string_view bytes, const std::string& name,
                                            const DocumentOptions& options);
ReadTexts read_text, read_markdown, read_html, read_srt, read_vtt, read_po, read_xliff, read_android, read_properties;
ReadTexts read_office_part, read_open_document_part, read_xhtml, read_package, read_contents;

// The reader of Document::parse_xml_text().
std::unique_ptr<TextFile> read_xml_text(std::string_view bytes, std::span<const std::string> kept,
                                        const std::string& name);

// A line of a file.
struct Line {
  std::string_view text;  // without its end
  std::size_t begin = 0, end = 0, next = 0;
};
// Splits a file into lines, which end with LF, CR LF or CR.
std::vector<Line> lines_of(std::string_view bytes);
// Throws FileError "NAME: line 3, column 7: ..." for a byte of a file.
[[noreturn]] void refuse_at(const std::string& name, std::string_view bytes, std::size_t byte, std::string_view what);

// The characters of a text that a line shows: 2 for those of East Asia if `wide` is 2.
std::size_t columns(std::string_view text, std::size_t wide);
// Returns a text with a backslash and names[i] for each character escaped[i].
std::string with_backslashes(std::string_view text, std::string_view escaped, std::string_view names);
// Returns whether texts of a language have no spaces between words.
bool has_no_spaces(std::string_view language);

}  // namespace encdec::documents
