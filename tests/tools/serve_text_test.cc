// What the server does with texts before and after they are translated, and with forms.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "http/form.h"
#include "openapi.h"
#include "routes.h"
#include "text/html.h"
#include "text/language.h"
#include "text/sentences.h"

namespace encdec::serve {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> texts_of(const std::vector<Sentence>& sentences) {
  std::vector<std::string> texts;
  for (const Sentence& sentence : sentences) texts.push_back(sentence.text);
  return texts;
}

std::string joined(const std::vector<Sentence>& sentences) {
  std::string text;
  for (const Sentence& sentence : sentences) text += sentence.text + sentence.space;
  return text;
}

TEST(Sentences, EndWhereTheLanguageSaysSo) {
  EXPECT_THAT(texts_of(split_text("Mr. Smith came. He left at 3.5 p.m.  Why?", Split::sentences, "en")),
              ElementsAre("Mr. Smith came.", "He left at 3.5 p.m.", "Why?"));
  EXPECT_THAT(texts_of(split_text("今天很好。我们走吧！", Split::sentences, "zh")),
              ElementsAre("今天很好。", "我们走吧！"));
  EXPECT_THAT(texts_of(split_text("यह एक है। यह दो है।", Split::sentences, "hi")), ElementsAre("यह एक है।", "यह दो है।"));
  EXPECT_THAT(texts_of(split_text("one\ntwo. three", Split::sentences, "en")), ElementsAre("one", "two. three"));
  EXPECT_THAT(texts_of(split_text("One. Two\nthree. Four.", Split::sentences_over_lines, "en")),
              ElementsAre("One.", "Two\nthree.", "Four."));
  EXPECT_THAT(texts_of(split_text("One. Two.\n Three.", Split::newlines, "en")), ElementsAre("One. Two.", "Three."));
  EXPECT_THAT(texts_of(split_text(" One. Two.\n ", Split::never, "en")), ElementsAre("", "One. Two."));
  EXPECT_THAT(split_text("", Split::sentences, "en"), IsEmpty());
}

TEST(Sentences, AndSpacesAreTheTextAgain) {
  for (const std::string& text :
       {std::string("  A b.\r\n\r\n\tC d?  E.\n"), std::string("\n\n"), std::string("a\xff b. \xc2"), std::string("…"),
        std::string("\u3000あ。\u3000い。"), std::string("x\0y. z", 6), std::string("A.\u2029B.\u00a0C")}) {
    for (const Split split : {Split::never, Split::newlines, Split::sentences, Split::sentences_over_lines}) {
      const auto sentences = split_text(text, split, "en");
      EXPECT_EQ(joined(sentences), text);
      const auto parts = cut_to_fit(sentences, [](const std::string& part) { return part.size() <= 3; });
      EXPECT_EQ(joined(parts), text);
    }
  }
}

TEST(Sentences, ThatAreTooLongAreCutAtClausesThenAtWords) {
  const auto cut = [](const std::string& text, std::size_t longest) {
    return texts_of(cut_to_fit({{text, ""}}, [longest](const std::string& part) { return part.size() <= longest; }));
  };
  EXPECT_THAT(cut("one two, three four five", 16), ElementsAre("one two,", "three four five"));
  EXPECT_THAT(cut("one two three four", 9), ElementsAre("one two", "three", "four"));
  EXPECT_THAT(cut("aaaaaaaa", 4), ElementsAre("aaaa", "aaaa"));
  EXPECT_THAT(cut("あいう", 3), ElementsAre("あ", "い", "う"));
  EXPECT_THAT(cut("あ", 1), ElementsAre("あ"));
}

TEST(Html, TagsStayAsTheyAre) {
  const std::string page =
      "<!DOCTYPE html><p class='a b'>Hello <a href=\"x?a=1&b=2>\">big &amp; <b>wide</b></a><BR/>world &lt;3</p><!-- "
      "not "
      "> this -->\n<script>if (a<b) {}</script><style>p</style ><code>int <code>x</code>;</code><p translate=no>as "
      "<p>it "
      "</p>is &nbsp;</p><i class='x notranslate'>y</i>end";
  std::string again, text;
  for (const HtmlPart& part : parse_html(page)) {
    again += part.is_text ? escape_html(part.content) : part.content;
    if (part.is_text) text += "[" + part.content + "]";
  }
  EXPECT_EQ(again, page);
  EXPECT_EQ(text, "[Hello ][big & ][wide][world <3][\n][end]");
}

TEST(Html, EntitiesAreCharacters) {
  const auto parts = parse_html(" caf&eacute;&#x20AC; &copy;2 &unknown; & a &lt;b&gt; 1 < 2 ");
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].content, " café€ ©2 &unknown; & a <b> 1 < 2 ");
}

TEST(Html, WhatIsNoneEndsSoon) {
  const auto times = [](const std::string& text, int count) {
    std::string all;
    for (int i = 0; i < count; ++i) all += text;
    return all;
  };
  for (const std::string& html :
       {times("<div>", 200'000),  times("<b>x", 200'000),     times("</", 200'000),
        times("<code>", 100'000), times("<script>", 100'000), times("<!--", 100'000),
        times("&lt;", 100'000),   times("<a b='", 100'000),   std::string("<<<>>>"),
        std::string("<p"),        std::string("<p a"),        std::string("<p a="),
        std::string("<p a='"),    std::string("a < b"),       std::string(),
        std::string("</p></p>"),  std::string("<"),           std::string("</"),
        std::string("<!"),        std::string("&"),           std::string("\xff<b>&amp;\0x", 11)}) {
    std::string again;
    for (const HtmlPart& part : parse_html(html)) again += part.is_text ? escape_html(part.content) : part.content;
    if (html.find('&') == std::string::npos && html.find("< ") == std::string::npos && html[0] != '<') {
      EXPECT_EQ(again, html);
    }
  }
}

TEST(Languages, HaveOneSpelling) {
  for (const char* french : {"fr", "FR", "fra", "fre", "fr_XX", "fra_Latn", ">>fra<<", "fr-CA", "fr-Latn"}) {
    EXPECT_EQ(canonical_language(french), "fr") << french;
  }
  for (const char* chinese : {"zh", "ZH-HANS", "zho_Hans", "zh_CN", "zh-Hans"}) {
    EXPECT_EQ(canonical_language(chinese), "zh") << chinese;
  }
  for (const char* chinese : {"zh-Hant", "zho_Hant", "zh_TW", "ZH-HANT"}) {
    EXPECT_EQ(canonical_language(chinese), "zh-Hant") << chinese;
  }
  EXPECT_EQ(canonical_language("EN-US"), "en");
  EXPECT_EQ(canonical_language("PT-BR"), "pt");
  EXPECT_EQ(canonical_language("srp_Cyrl"), "sr");
  EXPECT_EQ(canonical_language("sr_Latn"), "sr-Latn");
  EXPECT_EQ(canonical_language("arb_Arab"), "ar");
  EXPECT_EQ(canonical_language("iw"), "he");
  EXPECT_EQ(canonical_language("arpabet"), "arpabet");
  EXPECT_EQ(canonical_language(""), "");
  EXPECT_EQ(language_name("fr"), "French");
  EXPECT_EQ(language_name("arpabet"), "arpabet");
}

TEST(Languages, AreFoundAmongThoseThatAreAsked) {
  const std::vector<std::string> all = {"de", "en", "fr", "zh"};
  EXPECT_EQ(detect_languages("Le chat dort sur le canapé pendant que la pluie tombe.", all).front().language, "fr");
  EXPECT_EQ(detect_languages("Der Hund läuft durch den Garten und bellt die Katze an.", all).front().language, "de");
  EXPECT_EQ(detect_languages("今天的天气非常好，我们一起去公园散步吧。", all).front().language, "zh");
  const auto unknown = detect_languages("12345", all);
  EXPECT_EQ(unknown.size(), all.size());
  EXPECT_EQ(unknown.front().confidence, 0);
  EXPECT_NO_THROW(detect_languages(std::string("\xff\xfe\0x", 4), all));
}

TEST(OpenApi, HasEveryRouteOnce) {
  std::set<std::string> routes = {"get /health", "get /ping", "get /ready"};  // of no protocol
  for (const auto some : {libretranslate_routes(), openai_routes(), tei_routes(), deepl_routes(), hugging_face_routes(),
                          native_routes()}) {
    for (const Route& route : some) {
      EXPECT_TRUE(routes.insert(lower_case(route.method) + " " + std::string(route.path)).second) << route.path;
    }
  }
  std::set<std::string> described;
  const auto api = nlohmann::json::parse(kOpenApi);
  for (const auto& [path, operations] : api["paths"].items()) {
    const std::string pattern = std::regex_replace(path, std::regex("\\{[^}]*\\}"), "*");
    for (const auto& operation : operations.items()) described.insert(operation.key() + " " + pattern);
  }
  EXPECT_EQ(described, routes);
}

TEST(Forms, AreDecoded) {
  const Fields fields = parse_form("q=a+b%20c%C3%A9&empty=&alone&&q=2&x=%zz%4");
  EXPECT_EQ(fields["q"], "a b cé");
  EXPECT_EQ(fields["x"], "%zz%4");
  EXPECT_EQ(fields["empty"], "");
  EXPECT_NE(fields.find("alone"), nullptr);
  EXPECT_EQ(fields.find("none"), nullptr);
  EXPECT_EQ(fields.size(), 5u);
}

TEST(Forms, HaveParts) {
  const auto parts = parse_multipart(
      "preamble\r\n--b\r\nContent-Disposition: form-data; name=\"a;\\\"b\"; filename=f.txt\r\nX: "
      "y\r\n\r\n1\r\n2\r\n--b\r\n"
      "\r\n\r\n--b--\r\nepilogue",
      "multipart/form-data; charset=x; boundary=\"b\"");
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].name, "a;\"b");
  EXPECT_EQ(parts[0].file_name, "f.txt");
  EXPECT_EQ(parts[0].content, "1\r\n2");
  EXPECT_EQ(parts[1].content, "");
  for (const char* body : {"", "--b", "--b\r\n", "--b\r\nA: b\r\n\r\nx", "x"}) {
    EXPECT_THROW(parse_multipart(body, "multipart/form-data; boundary=b"), HttpError) << body;
  }
  EXPECT_THROW(parse_multipart("--\r\n\r\n--", "multipart/form-data"), HttpError);
}

}  // namespace
}  // namespace encdec::serve
