#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace encdec::serve {

// A tag within a text: of an element like <b>, <a> or <img>, which ends no sentence.
struct InlineTag {
  std::size_t place = 0;  // bytes of the text before it
  std::string markup;
  // The number of the tag that begins or ends its element; none for one that stands alone, or whose partner is not in
  // the same text.
  std::optional<std::size_t> partner = {};
};

// A stretch of a page: text to translate, without entities, or markup that stays as it is.
struct HtmlPart {
  bool is_text = false;
  std::string content;
  std::vector<InlineTag> tags = {};  // of a text, in order
};

// The parts of an HTML text, cut where its tokens are (WHATWG HTML, section 13.2.5), in linear time. Tags and their
// attributes, comments, scripts, styles and code are markup, as is what is marked as not to be translated
// (translate="no", class "notranslate"); a text ends at every tag but those of inline elements, of which the first
// 65,536 count. Written one after the other, texts by escape_html() with their tags between, they are the page again.
std::vector<HtmlPart> parse_html(std::string_view html);

// Text for a page: with entities.
std::string escape_html(std::string_view text);

}  // namespace encdec::serve
