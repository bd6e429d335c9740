#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/translation/documents/text_file.h"
#include "encdec/translation/text/html.h"

namespace encdec::documents {

// A piece of an XML file. An element without content, <a/>, has a start and an end of no bytes.
struct XmlToken {
  enum class Kind : std::uint8_t { start, end, text, other };

  Kind kind = Kind::other;
  ByteRange range;
  std::size_t partner = 0;  // index of the end of a start, and of the start of an end
};

// The tokens of an XML file, with their places.
class XmlTokens {
 public:
  enum class Declarations : std::uint8_t {
    none,  // no entities, no encoding other than UTF-8
    any,   // all are ignored, and an entity is text
  };

  // Throws FileError unless the bytes are well-formed XML in UTF-8 with these declarations, nested at most 256 deep.
  explicit XmlTokens(const InputFile& input, Declarations declarations = Declarations::none);

  std::size_t size() const { return tokens_.size(); }
  const XmlToken& operator[](std::size_t i) const { return tokens_[i]; }
  std::string_view bytes_of(std::size_t i) const { return tokens_[i].range.of(bytes_); }
  bool is_start(std::size_t i) const { return tokens_[i].kind == XmlToken::Kind::start; }
  // Returns the index of the first start.
  std::size_t root() const;
  // Return the name of a start, "text:p", and its parts "p" and "text:". It is empty for other tokens.
  std::string_view full_name(std::size_t i) const;
  std::string_view name(std::size_t i) const;
  std::string_view prefix(std::size_t i) const;
  // Returns the place of the value of an attribute, without quotes. `name` includes a prefix.
  std::optional<ByteRange> attribute_place(std::size_t i, std::string_view name) const;
  // Returns the value of an attribute; an empty text if there is none.
  std::string attribute(std::size_t i, std::string_view name) const;
  // Returns the first child of element `i` with a name; nullopt if there is none.
  std::optional<std::size_t> child(std::size_t i, std::string_view name) const;
  // The places of an element, and of what is inside it.
  ByteRange element(std::size_t i) const { return {tokens_[i].range.begin, tokens_[tokens_[i].partner].range.end}; }
  ByteRange content(std::size_t i) const { return {tokens_[i].range.end, tokens_[tokens_[i].partner].range.begin}; }

  // The kind of an element inside a paragraph. A text is a placeholder, or not.
  enum class Inline : std::uint8_t {
    pair,         // its tags are codes
    single,       // all of it is a code
    placeholder,  // all of it is a placeholder, which shows its text
  };
  // Returns the items of the content of element `i`.
  std::vector<Item> items(std::size_t i, const std::function<Inline(std::size_t)>& kind_of) const;

  // Adds the edit that sets an attribute of a start.
  void set_attribute(std::size_t i, std::string_view name, std::string_view value, std::vector<Edit>& edits) const;

 private:
  std::string_view bytes_;
  std::vector<XmlToken> tokens_;
};

// Replaces entities, also those of HTML and WebVTT, and a CDATA section by their characters, and ends of lines by LF.
// REQUIRES: `text` has no tags.
std::string unescape_xml(std::string_view text);

// Returns ` name="value"`.
std::string xml_attribute(std::string_view name, std::string_view value);

// Returns the syntax of texts in XML.
inline Syntax xml_syntax(Spaces spaces, const PlaceholderSyntax& placeholders = {}) {
  return {.unescape = unescape_xml,
          .escape = escape_html,
          .spaces = spaces,
          .nesting = Nesting::strict,
          .is_xml = true,
          .placeholders = placeholders};
}

}  // namespace encdec::documents
