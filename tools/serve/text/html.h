#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace encdec::serve {

// A stretch of a page: text to translate, without entities, or markup that stays as it is.
struct HtmlPart {
  bool is_text = false;
  std::string content;
};

// The parts of an HTML text, cut where its tokens are (WHATWG HTML, section 13.2.5), in linear time. Tags and their
// attributes, comments, scripts, styles and code are markup, as is what is marked as not to be translated
// (translate="no", class "notranslate"); a text ends at every tag. Written one after the other, texts by escape_html(),
// they are the page again.
std::vector<HtmlPart> parse_html(std::string_view html);

// Text for a page: with entities.
std::string escape_html(std::string_view text);

}  // namespace encdec::serve
