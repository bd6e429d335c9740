#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "encdec/translation/text/segment.h"

namespace encdec {

// A part of an HTML text. Text to translate has decoded entities, and inline tags as codes. Markup is stored unchanged
// as the text of the segment.
struct HtmlPart {
  bool is_text = false;
  Segment segment;
};

// Splits an HTML text into parts, by its WHATWG HTML tree. Markup is:
// - tags of elements that are not inline,
// - comments, scripts, styles and code,
// - elements with translate="no" or class "notranslate", except translate="yes" elements in them,
// - inline tags after the first 65,536.
// Everything else is text. A ruby reading is an inline code. write_html() of the parts gives the
// same page again. Throws InputError, with the line, for more than 256 nested elements, more than
// 128 attributes, or a tree too large for its text.
std::vector<HtmlPart> parse_html(std::string_view html);

std::string write_html(const HtmlPart& part);

// How the text of an element is used. A (ruby) reading is part of a code.
enum class HtmlUse : std::uint8_t { translate, keep, reading };

// Returns the use of an element's text. `parent` is the enclosing element's use.
HtmlUse html_use(HtmlUse parent, std::string_view name, std::string_view translate, std::string_view classes);

// A token of an HTML page: text, tag or other markup.
struct HtmlToken {
  enum class Kind : std::uint8_t { text, tag, alone, other };  // alone: the tag of an element without an end tag

  std::size_t begin = 0, end = 0;  // byte offsets in the page
  Kind kind = Kind::text;
  HtmlUse use = HtmlUse::translate;
  std::optional<std::size_t> partner = {};  // index of the other tag of a pair
};

// Returns tokens for the whole page, given the tokens that the parser found: texts to translate, their inline tags, and
// everything else as `other`. REQUIRES: `found` is sorted. Of two non-empty tokens at one position, ignores the second
// token. A text token with end == begin ends before the next tag.
std::vector<HtmlToken> tokens_of(std::string_view html, const std::vector<HtmlToken>& found);

struct HtmlPage {
  std::vector<HtmlToken> found = {};
  std::string charset = {};                                         // from a meta element, in lower case
  std::vector<std::pair<std::size_t, std::size_t>> languages = {};  // byte ranges of the root's lang attributes
};

// Parses HTML. Throws as parse_html() does.
HtmlPage read_html_page(std::string_view html);

// Returns the lower-case name of the tag at the beginning of a text.
std::string tag_name(std::string_view text);

// Decodes all HTML entities. REQUIRES: `text` has no tags.
std::string unescape_html(std::string_view text);

// Replaces the characters &, < and > by entities.
std::string escape_html(std::string_view text);

}  // namespace encdec
