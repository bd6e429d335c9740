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

// A part of an HTML text: text to translate, without entities and with inline tags as its codes; or markup to keep,
// which is then the text of the segment.
struct HtmlPart {
  bool is_text = false;
  Segment segment;
};

// Splits an HTML text into parts. The structure is the tree of WHATWG HTML. Markup is:
// - tags of elements that are not inline, with their attributes,
// - comments, scripts, styles and code,
// - elements that are not to be translated: translate="no" or class "notranslate", except a translate="yes" in them,
// - inline tags after the first 65,536 of them.
// Everything else is text, with the inline tags in it. A reading of ruby is a code. The parts written by write_html(),
// one after the other, are the HTML text again. Throws InputError, with the line, for an element inside 256 others or
// with more than 128 attributes, and for a tree that is too large for its text.
std::vector<HtmlPart> parse_html(std::string_view html);

// Returns a part as HTML.
std::string write_html(const HtmlPart& part);

// How text is used. A reading is in a code.
enum class HtmlUse : std::uint8_t { translate, keep, reading };

// Returns the use of the text in an element. The element around it has the use `parent`.
HtmlUse html_use(HtmlUse parent, std::string_view name, std::string_view translate, std::string_view classes);

// A piece of a page.
struct HtmlPiece {
  enum class Kind : std::uint8_t { text, tag, alone, other };  // alone: the tag of an element without an end tag

  std::size_t begin = 0, end = 0;  // bytes
  Kind kind = Kind::text;
  HtmlUse use = HtmlUse::translate;
  std::optional<std::size_t> partner = {};  // index of the other tag of a pair
};

// Returns all pieces of a page by those that its parser found: texts to translate, the tags in them that are codes,
// and all else as `other`. REQUIRES: `found` is in order; of two at a place, the second one is not used. A text in it
// needs no end; then the tags in this text are not in it.
std::vector<HtmlPiece> pieces_of(std::string_view html, const std::vector<HtmlPiece>& found);

struct HtmlPage {
  std::vector<HtmlPiece> found = {};
  std::string charset = {};                                         // from a meta element, in lower case
  std::vector<std::pair<std::size_t, std::size_t>> languages = {};  // bytes of the values of lang of the root
};

// Reads an HTML text, as parse_html() does.
HtmlPage read_html_page(std::string_view html);

// Returns the name of the tag that a text begins with, in lower case.
std::string tag_name(std::string_view text);

// Replaces all entities of HTML by their characters. `text` has no tags.
std::string unescape_html(std::string_view text);

// Returns `text` with the characters &, < and > as entities.
std::string escape_html(std::string_view text);

}  // namespace encdec
