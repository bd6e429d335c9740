#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "encdec/engine/base/error.h"
#include "encdec/translation/documents/document.h"
#include "encdec/translation/text/kept_words.h"
#include "encdec/translation/text/segment.h"

namespace encdec::documents {

inline constexpr std::string_view kWhiteSpace = " \t\r\n\f", kBlanks = " \t";

struct ByteRange {
  std::size_t begin = 0, end = 0;

  // Returns these bytes of a text.
  std::string_view of(std::string_view text) const { return text.substr(begin, end - begin); }
};

// A file that is read.
struct InputFile {
  std::string_view bytes;  // UTF-8; must outlive the TextFile
  std::string name;        // begins every message
  DocumentOptions options = {};

  // Counts memory that is taken, and polls for cancellation.
  void count(std::size_t memory) const;
  // Throws FileError "NAME: line 3, column 7: ..." for a byte of the file.
  [[noreturn]] void refuse_at(std::size_t byte, std::string_view what) const;
  // Throws FileError unless the bytes are UTF-8.
  void check_encoding() const;
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

// The placeholders that a text may have.
struct PlaceholderSyntax {
  bool percent = false;  // %s %1$s %-5.2f %(name)s %% %@, and %1 %L1 %n of Qt
  bool spaced = false;   // percent: also with a space as in "% d"
  bool braces = false;   // {name} {0!r} {{name}} {0,number}
  bool dollars = false;  // $name ${name}
  bool bars = false;     // |1$d| of Boost
  bool markup = false;   // tags <a href="x"> and entities &amp; that a text shows
};

// Returns the text of a placeholder.
inline std::string_view part(std::string_view text, const Placeholder& placeholder) {
  return text.substr(placeholder.begin, placeholder.end - placeholder.begin);
}

// Returns the placeholders of a text, in order. Addresses of pages, http://..., are always among them.
std::vector<Placeholder> find_placeholders(std::string_view text, const PlaceholderSyntax& syntax);

// Returns the bytes of placeholders as they are in the text, sorted.
std::vector<std::string> sorted_placeholders(std::string_view text, const PlaceholderSyntax& syntax);

// Returns whether a text begins as a message of ICU: "{n, plural, one {# file} other {# files}}".
bool is_message(std::string_view text);

// Adds to a segment the placeholders of its text that are not inside others. Returns false if there is a message of ICU
// with codes or placeholders in it.
bool add_placeholders(Segment& segment, const PlaceholderSyntax& syntax);

using Convert = std::string (*)(std::string_view);
inline std::string unchanged(std::string_view text) {
  return std::string(text);
}

enum class Spaces : std::uint8_t {
  keep,      // all, also at the ends
  trim,      // drop those at the ends
  collapse,  // the same, and those between words are one space each
};

// Whether the codes of a text are tags of XML, which must stay nested.
enum class Nesting : std::uint8_t { free, strict };

// How a format writes its texts.
struct Syntax {
  Convert unescape = unchanged, escape = unchanged;
  Spaces spaces = Spaces::keep;
  Nesting nesting = Nesting::free;
  bool is_xml = false;  // the file is well-formed XML
  PlaceholderSyntax placeholders = {};
};

// A text of a file.
struct Text {
  Segment segment;
  ByteRange range;                // the bytes that a translation replaces
  std::vector<Piece> codes = {};  // bytes to write for the segment's codes
  Convert escape = unchanged;
};

// A part of a paragraph: text or a code.
struct Item {
  enum class Kind : std::uint8_t { text, open, close, single, placeholder };

  Kind kind = Kind::text;
  ByteRange range;
  ByteRange content = range;                // the bytes of the text, or of the code
  std::optional<std::size_t> partner = {};  // index of the other code of a pair
};

// Adds the end of the pair that begins with item `open`, whatever its kind was.
void add_close(std::vector<Item>& items, std::size_t open, ByteRange range);

// Returns the text of a paragraph; nullopt if it has no letters. Codes at its ends are left out.
std::optional<Text> text_of(const InputFile& input, std::vector<Item> items, const Syntax& syntax);

// Adds the placeholders and codes that a text shows. Returns false if a message of ICU has codes in it.
bool add_marks(Text& text, const PlaceholderSyntax& syntax);

// Replaces parts of a segment's text, and moves the places of its codes, placeholders and cuts.
void replace_in(Segment& segment, const std::vector<Replacement>& replacements);

// Returns a text without some characters at its ends.
std::string_view trim(std::string_view text, std::string_view characters = kWhiteSpace);
// Returns whether there is something to translate.
bool has_letters(std::string_view text);

// A translation that has every code of its segment once.
struct FittedTranslation {
  Segment segment;
  std::vector<std::size_t> code_of;  // for each code its index in the segment that was translated
};

// The reason why a translation cannot be used.
struct UnusableTranslation : Error {
  using Error::Error;
};

// Returns a translation with all codes. Throws UnusableTranslation if that is not possible.
FittedTranslation fit(const Segment& source, const Segment& translation, Nesting nesting);

// Returns part [begin, end) of a translation: escaped text, placeholders, and codes as they are in the file. Of the
// codes between two parts, the ends of pairs belong to the first one and all others to the second one.
std::vector<Piece> pieces_of(const FittedTranslation& translation, const Text& source, std::size_t begin = 0,
                             std::size_t end = std::string::npos);

// The texts of a file, as the reader of its format found them, and how translations are written. Here translations
// replace the texts; formats in which that is not all have classes of their own.
class TextFile {
 public:
  TextFile(InputFile input, const Syntax& syntax) : input_(std::move(input)), syntax_(syntax) {}
  virtual ~TextFile() = default;
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;

  // For readers: adds the text of a paragraph, unless it has no letters.
  void add(std::vector<Item> items);
  // For readers: adds an edit of a file with at least one translation, such as its language.
  void add_edit(ByteRange range, std::string text) {
    edits_.push_back({.range = range, .pieces = {{std::move(text)}}});
  }

  // Forgets what the caller of the reader counts memory with, which may not outlive the reading.
  void end_reading() { input_.options.on_memory = nullptr; }

  std::string_view bytes() const { return input_.bytes; }
  const std::vector<Text>& texts() const { return texts_; }
  Nesting nesting() const { return syntax_.nesting; }
  // Whether translations are written beside their sources.
  virtual bool has_targets() const { return false; }
  // Adds the edits of a translation. Throws UnusableTranslation, and adds nothing, if it cannot be used.
  virtual void edit(std::size_t text, const FittedTranslation& translation, std::vector<Edit>& edits) const;
  // Returns the file with edits. Throws FileError instead of breaking the XML of a file.
  virtual std::string with(std::vector<Edit> edits) const;
  // Adds the edits of a document with at least one translation.
  virtual void edit_rest(std::vector<Edit>& edits) const { edits.insert(edits.end(), edits_.begin(), edits_.end()); }

 protected:
  InputFile input_;
  std::vector<Text> texts_;
  std::vector<Edit> edits_;  // written if there is at least one translation

 private:
  const Syntax syntax_;
};

// The readers. They throw FileError.
using ReadTexts = std::unique_ptr<TextFile>(const InputFile& input);
ReadTexts read_html, read_srt, read_vtt, read_po, read_xliff;

// The reader of Document::parse_xml_text().
std::unique_ptr<TextFile> read_xml_text(const InputFile& input, std::span<const std::string> kept);

// A line of a file.
struct Line {
  std::string_view text;  // without its end
  std::size_t begin = 0, end = 0, next = 0;
};
// Splits a file into lines, which end with LF, CR LF or CR. A byte order mark is not in the first line.
std::vector<Line> lines_of(std::string_view bytes);

// Returns the columns of a text in a terminal: 2 for a character of East Asia.
std::size_t columns(std::string_view text);
// Returns whether texts of a language have no spaces between words.
bool has_no_spaces(std::string_view language);

}  // namespace encdec::documents
