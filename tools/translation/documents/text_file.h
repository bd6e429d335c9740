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

  std::string_view of(std::string_view text) const { return text.substr(begin, end - begin); }
};

// A file to be read.
struct InputFile {
  std::string_view bytes;  // UTF-8; must outlive the TextFile
  std::string name;        // begins every error message
  DocumentOptions options = {};

  // Reports `memory` more bytes to options.on_memory, and polls for cancellation.
  void count(std::size_t memory) const;
  // Throws FileError "NAME: line 3, column 7: ..." for an offset in the file.
  [[noreturn]] void refuse_at(std::size_t byte, std::string_view what) const;
  // Throws FileError unless the bytes are UTF-8.
  void check_encoding() const;
};

// A part of output: `text`, followed by a range of the file with the edits inside this range.
struct Part {
  std::string text = {};
  ByteRange range = {};
};

// A replacement of a range of the file by parts.
struct Edit {
  ByteRange range;
  std::vector<Part> parts;
};

// Returns the file with edits applied. Two edits may overlap only if one edit lies in a range that the other edit
// copies. Ignores edits inside a replaced range that is not copied.
std::string with_edits(std::string_view file, std::vector<Edit> edits);

// The kinds of placeholders that a text may have.
struct PlaceholderSyntax {
  bool percent = false;  // %s %1$s %-5.2f %(name)s %% %@, and %1 %L1 %n of Qt
  bool spaced = false;   // percent: also with a space flag, "% d"
  bool braces = false;   // {name} {0!r} {{name}} {0,number}
  bool dollars = false;  // $name ${name}
  bool bars = false;     // |1$d| of Boost
  bool markup = false;   // tags <a href="x"> and entities &amp; written in the text
};

inline std::string_view part(std::string_view text, const Placeholder& placeholder) {
  return text.substr(placeholder.begin, placeholder.end - placeholder.begin);
}

// Returns the placeholders of a text, in order. URLs (http://...) are always placeholders.
std::vector<Placeholder> find_placeholders(std::string_view text, const PlaceholderSyntax& syntax);

// Returns the texts of all placeholders, sorted.
std::vector<std::string> sorted_placeholders(std::string_view text, const PlaceholderSyntax& syntax);

// Returns true if a text begins like an ICU message: "{n, plural, one {# file} other {# files}}".
bool is_message(std::string_view text);

// Adds the placeholders that find_placeholders() finds, except where existing placeholders or codes overlap them.
// Returns false if an ICU message contains codes or placeholders.
bool add_placeholders(Segment& segment, const PlaceholderSyntax& syntax);

using Convert = std::string (*)(std::string_view);
inline std::string unchanged(std::string_view text) {
  return std::string(text);
}

enum class Spaces : std::uint8_t {
  keep,
  trim,      // drop leading and trailing white space
  collapse,  // also reduce white space between words to one space
};

// Whether a text's inline codes are XML tags, which must stay nested.
enum class Nesting : std::uint8_t { free, strict };

// How a format represents texts.
struct Syntax {
  Convert unescape = unchanged, escape = unchanged;
  Spaces spaces = Spaces::keep;
  Nesting nesting = Nesting::free;
  bool is_xml = false;  // the file is well-formed XML
  PlaceholderSyntax placeholders = {};
};

struct Text {
  Segment segment;
  ByteRange range;               // the bytes that a translation replaces
  std::vector<Part> codes = {};  // bytes to write for the segment's codes
  Convert escape = unchanged;
};

// A part of a paragraph.
struct Item {
  enum class Kind : std::uint8_t { text, open, close, single, placeholder };

  Kind kind = Kind::text;
  ByteRange range;
  ByteRange content = range;                // the bytes of the text or code
  std::optional<std::size_t> partner = {};  // index of the other code of a pair
};

// Adds the closing item of a pair, and makes item `open` the opening item.
void add_close(std::vector<Item>& items, std::size_t open, ByteRange range);

// Returns the text of a paragraph without the codes at its ends; nullopt if it has no letters.
std::optional<Text> text_of(const InputFile& input, std::vector<Item> items, const Syntax& syntax);

// Finds placeholders and markup written in a text. Returns false as add_placeholders() does.
bool add_marks(Text& text, const PlaceholderSyntax& syntax);

// Replaces ranges of a segment's text and moves its codes, placeholders and cuts accordingly.
void replace_in(Segment& segment, const std::vector<Replacement>& replacements);

// Returns a text without the `characters` at its beginning and end.
std::string_view trim(std::string_view text, std::string_view characters = kWhiteSpace);
bool has_letters(std::string_view text);

// A translation that contains every inline code of its source segment exactly once.
struct FittedTranslation {
  Segment segment;
  std::vector<std::size_t> code_of;  // for each code, its index in the source segment
};

// Thrown for a translation that cannot be used.
struct UnusableTranslation : Error {
  using Error::Error;
};

// Adds missing codes to a translation. Throws UnusableTranslation if the translation cannot be used.
FittedTranslation fit(const Segment& source, const Segment& translation, Nesting nesting);

// Returns the output for bytes [begin, end) of a translation. A code at the boundary of two ranges belongs to the first
// range if it closes a pair, else to the second range.
std::vector<Part> parts_of(const FittedTranslation& translation, const Text& source, std::size_t begin = 0,
                           std::size_t end = std::string::npos);

// The texts that a format's reader found in a file, and the way to write translations. By default, a translation
// replaces its text. Formats that need more derive from this class.
class TextFile {
 public:
  TextFile(InputFile input, const Syntax& syntax) : input_(std::move(input)), syntax_(syntax) {}
  virtual ~TextFile() = default;
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;

  // For readers: adds a paragraph, unless it has no letters.
  void add(std::vector<Item> items);
  // For readers: adds an edit to make if the file gets a translation, such as its language.
  void add_edit(ByteRange range, std::string text) { edits_.push_back({.range = range, .parts = {{std::move(text)}}}); }

  // Resets `on_memory`, which may be invalid after reading.
  void end_reading() { input_.options.on_memory = nullptr; }

  std::string_view bytes() const { return input_.bytes; }
  const std::vector<Text>& texts() const { return texts_; }
  Nesting nesting() const { return syntax_.nesting; }
  // Returns true if the format keeps each source next to its translation.
  virtual bool has_targets() const { return false; }
  // Adds the edits for a translation. If this fails, throws UnusableTranslation and adds no edit.
  virtual void edit(std::size_t text, const FittedTranslation& translation, std::vector<Edit>& edits) const;
  // Returns the file with edits applied. Throws FileError if the result would be malformed XML.
  virtual std::string with(std::vector<Edit> edits) const;
  // Adds the edits that are made once, if there is at least one translation.
  virtual void edit_rest(std::vector<Edit>& edits) const { edits.insert(edits.end(), edits_.begin(), edits_.end()); }

 protected:
  InputFile input_;
  std::vector<Text> texts_;
  std::vector<Edit> edits_;  // made if there is at least one translation

 private:
  const Syntax syntax_;
};

// Readers of the formats. They throw FileError.
using ReadTexts = std::unique_ptr<TextFile>(const InputFile& input);
ReadTexts read_html, read_srt, read_vtt, read_po, read_xliff;

// The reader of Document::parse_xml_text().
std::unique_ptr<TextFile> read_xml_text(const InputFile& input, std::span<const std::string> kept);

struct Line {
  std::string_view text;  // without its end
  std::size_t begin = 0, end = 0, next = 0;
};
// Splits a file into lines, which end with LF, CR LF or CR. Skips a byte order mark.
std::vector<Line> lines_of(std::string_view bytes);

// Returns the width of a text in terminal columns: 2 for an East Asian wide character.
std::size_t columns(std::string_view text);
// Returns true for Chinese, Japanese and Korean.
bool is_cjk(std::string_view language);

}  // namespace encdec::documents
