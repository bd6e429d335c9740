#include "encdec/models/translation/text/html.h"

#include <gtest/gtest.h>

#include <string>

namespace encdec {
namespace {

TEST(Html, TagsAreKept) {
  const std::string page =
      "<!DOCTYPE html><p class='a b'>Hello <a href=\"x?a=1&b=2>\">big &amp; <b>wide</b></a><BR/>world &lt;3</p><!-- "
      "not "
      "> this -->\n<script>if (a<b) {}</script><style>p</style ><code>int <code>x</code>;</code><p translate=no>as "
      "<p>it "
      "</p>is &nbsp;</p><i class='x notranslate'>y</i>end";
  std::string again, text;
  for (const HtmlPart& part : parse_html(page)) {
    again += write_html(part);
    if (part.is_text) text += "[" + part.segment.text + "]";
  }
  EXPECT_EQ(again, page);
  EXPECT_EQ(text, "[Hello big & wide][world <3][\n][end]");
}

TEST(Html, InlineTagsBelongToTheirText) {
  const auto parts = parse_html("&lt;a <b>x<i>y</b>z</i><IMG src=a><br><a>one<p>two</a>");
  ASSERT_EQ(parts.size(), 5u);
  EXPECT_EQ(parts[0].segment.text, "<a xyz");
  std::string tags;
  for (const InlineCode& code : parts[0].segment.codes) {
    tags += std::to_string(code.place) + code.markup + (code.partner ? std::to_string(*code.partner) : "") + " ";
  }
  // Only nested tags have a partner.
  EXPECT_EQ(tags, "3<b> 4<i>3 5</b> 6</i>1 6<IMG src=a> ");
  EXPECT_EQ(parts[1].segment.text, "<br>");
  ASSERT_EQ(parts[2].segment.codes.size(), 1u);
  EXPECT_FALSE(parts[2].segment.codes[0].partner);
  EXPECT_EQ(parts[3].segment.text, "<p>");
  EXPECT_EQ(parts[4].segment.codes.front().place, 3u);
}

TEST(Html, EntitiesAreCharacters) {
  const auto parts = parse_html(" caf&eacute;&#x20AC; &copy;2 &unknown; & a &lt;b&gt; 1 < 2 ");
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].segment.text, " café€ ©2 &unknown; & a <b> 1 < 2 ");
}

std::string times(const std::string& text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

TEST(Html, MalformedInputTakesLinearTime) {
  for (const std::string& html :
       {times("<div>", 200'000),  times("<b>x", 200'000),     times("</", 200'000),
        times("<code>", 100'000), times("<script>", 100'000), times("<!--", 100'000),
        times("&lt;", 100'000),   times("<a b='", 100'000),   std::string("<<<>>>"),
        std::string("<p"),        std::string("<p a"),        std::string("<p a="),
        std::string("<p a='"),    std::string("a < b"),       std::string(),
        std::string("</p></p>"),  std::string("<"),           std::string("</"),
        std::string("<!"),        std::string("&"),           std::string("\xff<b>&amp;\0x", 11)}) {
    std::string again;
    for (const HtmlPart& part : parse_html(html)) again += write_html(part);
    if (html.find('&') == std::string::npos && html.find("< ") == std::string::npos && html[0] != '<') {
      EXPECT_EQ(again, html);
    }
  }
}

}  // namespace
}  // namespace encdec
