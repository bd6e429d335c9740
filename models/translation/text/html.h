#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/translation/text/segment.h"

namespace encdec {

// A part of an HTML text: text to translate, without entities and with inline tags as its codes; or markup to keep,
// which is then the text of the segment.
struct HtmlPart {
  bool is_text = false;
  Segment segment;
  std::size_t bytes = 0;  // size in the HTML text
};

// Splits an HTML text into parts, in linear time. Tokens are those of WHATWG HTML, section 13.2.5. Markup is:
// - tags of elements that are not inline, with their attributes,
// - comments, scripts, styles and code,
// - elements that are not to be translated: translate="no" or class "notranslate",
// - inline tags after the first 65,536 of them.
// Everything else is text, with the inline tags in it. The parts written by write_html(), one after the other, are the
// HTML text again.
std::vector<HtmlPart> parse_html(std::string_view html);

// Returns a part as HTML.
std::string write_html(const HtmlPart& part);

// Replaces all entities of HTML by their characters. REQUIRES: `text` has no tags.
std::string unescape_html(std::string_view text);

// Returns `text` with the characters &, < and > as entities.
std::string escape_html(std::string_view text);

}  // namespace encdec
