#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace encdec::serve {

// A tag of an inline element, such as <b>, <a> or <img>. It is part of a text and does not end a sentence.
struct InlineTag {
  std::size_t place = 0;  // position in the text, in bytes
  std::string markup;
  // Index in HtmlPart::tags of the other tag of the element. Unset for an element without end tag, or if the other tag
  // is not in the same text.
  std::optional<std::size_t> partner = {};
};

// A part of an HTML text: text to translate, without entities, or markup to keep.
struct HtmlPart {
  bool is_text = false;
  std::string content;
  std::vector<InlineTag> tags = {};  // inline tags of a text, in order
};

// Splits an HTML text into parts, in linear time. Tokens are those of WHATWG HTML, section 13.2.5. Markup is:
// - tags of elements that are not inline, with their attributes,
// - comments, scripts, styles and code,
// - elements that are not to be translated: translate="no" or class "notranslate",
// - inline tags after the first 65,536 of them.
// Everything else is text, with the inline tags in it. The parts written one after the other are the HTML text again,
// if texts are written by escape_html() with their tags.
std::vector<HtmlPart> parse_html(std::string_view html);

// Returns `text` with the characters &, < and > as entities.
std::string escape_html(std::string_view text);

}  // namespace encdec::serve
