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

// A token of an XML file. An empty element, <a/>, has a start token and an end token of 0 bytes.
struct XmlToken {
  enum class Kind : std::uint8_t { start, end, text, other };

  Kind kind = Kind::other;
  ByteRange range;
  std::size_t partner = 0;  // index of the end token of a start token, and vice versa
};

class XmlTokens {
 public:
  enum class Declarations : std::uint8_t {
    none,  // no entity declarations, and no encoding other than UTF-8
    any,   // accepted but ignored; an entity is text
  };

  // Throws FileError unless the bytes are well-formed UTF-8 XML, nested at most 256 deep.
  explicit XmlTokens(const InputFile& input, Declarations declarations = Declarations::none);

  std::size_t size() const { return tokens_.size(); }
  const XmlToken& operator[](std::size_t i) const { return tokens_[i]; }
  std::string_view bytes_of(std::size_t i) const { return tokens_[i].range.of(bytes_); }
  bool is_start(std::size_t i) const { return tokens_[i].kind == XmlToken::Kind::start; }
  // Returns the index of the first start token.
  std::size_t root() const;
  // Return the full name of a start token, such as "text:p", its part "p" and its part "text:"; "" for other tokens.
  std::string_view full_name(std::size_t i) const;
  std::string_view name(std::size_t i) const;
  std::string_view prefix(std::size_t i) const;
  // Returns the range of an attribute's value, without quotes. `name` includes any prefix.
  std::optional<ByteRange> attribute_range(std::size_t i, std::string_view name) const;
  // Returns an attribute's value, or an empty text.
  std::string attribute(std::size_t i, std::string_view name) const;
  // Returns the first child element with a local name; nullopt if there is none.
  std::optional<std::size_t> child(std::size_t i, std::string_view name) const;
  // Return the range of an element, with and without its tags.
  ByteRange element(std::size_t i) const { return {tokens_[i].range.begin, tokens_[tokens_[i].partner].range.end}; }
  ByteRange content(std::size_t i) const { return {tokens_[i].range.end, tokens_[tokens_[i].partner].range.begin}; }

  // How a token inside a paragraph is treated. A text token is text or a placeholder.
  enum class Inline : std::uint8_t {
    pair,         // start and end tag are a pair of codes
    single,       // the whole element is one code
    placeholder,  // the whole element is a placeholder with its text
  };
  // Returns the items inside element `i`.
  std::vector<Item> items(std::size_t i, const std::function<Inline(std::size_t)>& kind_of) const;

  // Adds the edit that sets an attribute of a start token.
  void set_attribute(std::size_t i, std::string_view name, std::string_view value, std::vector<Edit>& edits) const;

 private:
  std::string_view bytes_;
  std::vector<XmlToken> tokens_;
};

// Decodes entities, including the entities of HTML and WebVTT, unwraps a CDATA section, and converts line ends to LF.
// REQUIRES: `text` has no tags.
std::string unescape_xml(std::string_view text);

// Returns ` name="value"`, escaped.
std::string xml_attribute(std::string_view name, std::string_view value);

inline Syntax xml_syntax(Spaces spaces, const PlaceholderSyntax& placeholders = {}) {
  return {.unescape = unescape_xml,
          .escape = escape_html,
          .spaces = spaces,
          .nesting = Nesting::strict,
          .is_xml = true,
          .placeholders = placeholders};
}

}  // namespace encdec::documents
