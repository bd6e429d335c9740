#include "encdec/translation/text/html.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "encdec/translation/text/word_list.h"
#include "tests/support/message_of.h"
#include "tools/translation/tests/documents/upper_case.h"

namespace encdec {
namespace {

TEST(Html, InlineTagsBelongToTheirText) {
  const auto parts = parse_html("&lt;a <b>x<i>y</b>z</i><IMG src=a><br><a>one<p>two</a>");
  ASSERT_EQ(parts.size(), 5u);
  EXPECT_EQ(parts[0].segment.text, "<a xyz");
  std::string tags;
  for (const InlineCode& code : parts[0].segment.codes) {
    tags += std::to_string(code.position) + code.markup + (code.partner ? std::to_string(*code.partner) : "") + " ";
  }
  // Only nested tags have a partner.
  EXPECT_EQ(tags, "3<b> 4<i>3 5</b> 6</i>1 6<IMG src=a> ");
  EXPECT_EQ(parts[1].segment.text, "<br>");
  ASSERT_EQ(parts[2].segment.codes.size(), 1u);
  EXPECT_FALSE(parts[2].segment.codes[0].partner);
  EXPECT_EQ(parts[3].segment.text, "<p>");
  EXPECT_EQ(parts[4].segment.codes.front().position, 3u);
}

TEST(Html, HasLimitsWhereTheParserHasNone) {
  std::string attributes, clones;
  for (int i = 0; i < 300; ++i) attributes += " a" + std::to_string(i);
  for (int i = 0; i < 200; ++i) clones += "<b id=" + std::to_string(i) + ">";
  const std::pair<std::string, std::string> refused[] = {
      {"\n" + times("<div>", 1'000'000), "line 2: an element inside 256 others, expected fewer"},
      {times("<b>", 1'000'000), "line 1: an element inside 256 others, expected fewer"},
      {times("<li><dd>", 1'000), "line 1: an element inside 256 others, expected fewer"},
      {"x\n<p>y<p" + attributes + ">", "line 2: an element with more than 128 attributes, expected fewer"},
      {"<p>" + clones + times("<p>x", 5'000), "line 1: repeated elements that take too much memory, expected fewer"},
      {times("<body a=b>", 20'000), "line 1: tags html and body with more than 128 KiB, expected less"},
  };
  for (const auto& [html, error] : refused) EXPECT_EQ(message_of<InputError>([&] { parse_html(html); }), error);
}

// Returns the texts of a page, each in brackets, with their codes.
std::string texts_of(const std::string& page) {
  std::string texts;
  for (const HtmlPart& part : parse_html(page)) {
    if (!part.is_text) continue;
    std::string text = part.segment.text;
    for (std::size_t i = part.segment.codes.size(); i-- > 0;) {
      text.insert(part.segment.codes[i].position, "{" + part.segment.codes[i].markup + "}");
    }
    texts += "[" + text + "]";
  }
  return texts;
}

TEST(Html, IsReadByItsTree) {
  const std::pair<const char*, const char*> pages[] = {
      {"<!DOCTYPE html><p class='a b'>Hi <a href=\"x?a=1&b=2>\">big &amp; <b>wide</b></a><BR/>world &lt;3</p>\n",
       "[Hi {<a href=\"x?a=1&b=2>\">}big & {<b>}wide{</b>}{</a>}][world <3][\n]"},
      {" caf&eacute;&#x20AC; &copy;2 &unknown; & a &lt;b&gt; 1 < 2 ", "[ café€ ©2 &unknown; & a <b> 1 < 2 ]"},
      {"<style>p</style >a<code>int <code>x</code>;</code>b<div translate=no>as <div>it </div>is</div>c", "[a][b][c]"},
      // Omitted end tags.
      {"<ul><li translate=no>a<li>b</ul>c", "[b][c]"},
      {"<p translate=no>a<p>b<div class=notranslate><p>c</div>d", "[b][d]"},
      {"<dl><dt translate=no>a<dd>b<dd translate=no>c<dt>d</dl>e", "[b][d][e]"},
      {"<table><tr><td translate=no>a<td>b<tr translate=no><td>c<tr><th>d</table>e", "[b][d][e]"},
      {"<select><option translate=no>a<option>b<optgroup translate=no><option>c</select>d", "[b][d]"},
      {"<html translate=no><body><p>a<p translate=yes>b", "[b]"},
      // Self-closing elements, and elements without an end tag.
      {"a<svg/>b<math/>c<svg><path/><text>d</text></svg>e", "[a][b][c][e]"},
      {"<p translate=no>a<br>b<img>c</p>d<br translate=no>e", "[d][e]"},
      {"<p translate='no'/>a<p>b", "[b]"},
      {"<div translate=no>a</b>b</div>c", "[c]"},
      // The innermost setting counts.
      {"<p translate=no>a <b translate=yes>b <i class='x notranslate'>c <u translate=YES>d</u></i> e</b> f</p>g",
       "[{<b translate=yes>}b ][{<u translate=YES>}d{</u>}][ e{</b>}][g]"},
      {"<code>a <i>b</i> <i translate=yes>c</i></code>", "[{<i translate=yes>}c{</i>}]"},
      // Ruby readings.
      {"a <ruby>b<rt>c</rt></ruby> d <ruby>e<rp>(</rp><rt>f</rt><rp>)</rp></ruby> g",
       "[a {<ruby>}b{<rt>c</rt></ruby>} d {<ruby>}e{<rp>(</rp><rt>f</rt><rp>)</rp></ruby>} g]"},
      {"<ruby>a<rt>b<rt>c<!-- d --></ruby>e", "[{<ruby>}a{<rt>b<rt>c<!-- d --></ruby>}e]"},
      {"<ruby>a<rt>b</rt>c<rt><b>d</b></ruby>", "[{<ruby>}a{<rt>b</rt>}c{<rt><b>d</b></ruby>}]"},
      {"<ruby translate=no>a<rt>b</ruby>c", "[c]"},
      // Elements whose content has no tags.
      {"<title>a <b> &amp; c</title><textarea>d<p>e</textarea>f", "[a <b> & c][d<p>e][f]"},
      {"<script>'<b>' a</script>b<style><p></style>c<xmp><i>d</xmp>e", "[b][c][e]"},
      {"a<noscript>b</noscript><template>c</template><iframe><p>d</iframe>e<plaintext></plaintext>f", "[a][b][e]"},
      {"a<!--<p>b-->c<?d>e</ f>g</>h<![CDATA[i>]]>", "[a][c][e][g][h][]]>]"},
      {"<svg><![CDATA[<p>a]]></svg>b<svg translate=yes><![CDATA[<p>c]]>d</svg>", "[b][d]"},
      {"<p title='a>b' x=\"<p>\" y=>c</p>", "[c]"},
      // Elements that the parser moves, copies or drops.
      {"<table>a<tr>b<td>c</table>d", "[a][b][c][d]"},
      {"<b>a<p>b</b>c</p>d", "[{<b>}a][b{</b>}c][d]"},
      {"<a>b<div>c<a>d</div>e", "[{<a>}b][c{<a>}d][e]"},
      {"a</i>b<td>c<body class=d>e</html>f", "[a{</i>}b][c][e][f]"},
      {"<frameset>a<frame><noframes>b</noframes></frameset>", "[a]"},
  };
  for (const auto& [page, texts] : pages) EXPECT_EQ(texts_of(page), texts) << page;
}

// Returns a page of random parts.
std::string random_page(std::mt19937& random) {
  constexpr std::string_view kTags =
      "a b i p div span ul li table tr td th tbody caption select option dl dt dd ruby rt rp svg math path mi code pre "
      "br img hr h1 title textarea script style template noscript button form font nobr html head body frameset object "
      "plaintext foreignObject annotation-xml";
  static const std::vector<std::string> tags = [&] {
    std::vector<std::string> all;
    any_word(kTags, [&](std::string_view tag) { return all.emplace_back(tag).empty(); });
    return all;
  }();
  static const std::vector<std::string> others = {
      "one", " two ", "x.",  "<!-- c -->", "<!doctype html>", "<![CDATA[d]]>", "<?e?>", "</>", "<",
      "</",  "<!",    "]]>", "--"};
  static const std::vector<std::string> attributes = {
      "", "", "", " translate=no", " translate='yes'", " class=notranslate", " q=\"a>b\"", "/", " t='<p>'"};
  const auto any = [&random](const auto& list) -> const std::string& { return list[random() % list.size()]; };
  std::string page;
  for (std::size_t parts = random() % 40; parts-- > 0;) {
    switch (random() % 3) {
      case 0: page += any(others); break;
      case 1: page += "<" + any(tags) + any(attributes) + ">"; break;
      default: page += "</" + any(tags) + ">";
    }
  }
  return page;
}

TEST(Html, PartsAreThePageWhateverItsTags) {
  std::mt19937 random(4);
  for (int i = 0; i < 20'000; ++i) {
    const std::string page = random_page(random);
    std::string again;
    for (const HtmlPart& part : parse_html(page)) again += write_html(part);
    // The page has no entities, so write_html() added all of these.
    for (const auto& [entity, character] : {std::pair("&lt;", "<"), std::pair("&gt;", ">")}) {
      for (std::size_t at = 0; (at = again.find(entity, at)) != again.npos;) again.replace(at, 4, character);
    }
    ASSERT_EQ(again, page);
  }
}

}  // namespace
}  // namespace encdec
