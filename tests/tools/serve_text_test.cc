// Tests what the server does with texts before and after translation, and with forms.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "common/lower_case.h"
#include "serve/http/form.h"
#include "serve/keys.h"
#include "serve/openapi.h"
#include "serve/routes.h"
#include "serve/text/html.h"
#include "serve/text/inline_tags.h"
#include "serve/text/language.h"
#include "serve/text/sentences.h"
#include "serve/text/stop_texts.h"

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

TEST(Sentences, EndByTheRulesOfTheLanguage) {
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

TEST(Sentences, AndTheSpacesBetweenThemJoinToTheText) {
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

TEST(Sentences, AreCutAtClausesThenAtWordsIfTooLong) {
  const auto cut = [](const std::string& text, std::size_t longest) {
    return texts_of(cut_to_fit({{text, ""}}, [longest](const std::string& part) { return part.size() <= longest; }));
  };
  EXPECT_THAT(cut("one two, three four five", 16), ElementsAre("one two,", "three four five"));
  EXPECT_THAT(cut("one two three four", 9), ElementsAre("one two", "three", "four"));
  EXPECT_THAT(cut("aaaaaaaa", 4), ElementsAre("aaaa", "aaaa"));
  EXPECT_THAT(cut("あいう", 3), ElementsAre("あ", "い", "う"));
  EXPECT_THAT(cut("あ", 1), ElementsAre("あ"));
}

// Returns a part as it was in the page.
std::string html_of(const HtmlPart& part) {
  if (!part.is_text) return part.content;
  std::string html;
  std::size_t begin = 0;
  for (const InlineTag& tag : part.tags) {
    html += escape_html(part.content.substr(begin, tag.place - begin)) + tag.markup;
    begin = tag.place;
  }
  return html + escape_html(part.content.substr(begin));
}

TEST(Html, TagsAreKept) {
  const std::string page =
      "<!DOCTYPE html><p class='a b'>Hello <a href=\"x?a=1&b=2>\">big &amp; <b>wide</b></a><BR/>world &lt;3</p><!-- "
      "not "
      "> this -->\n<script>if (a<b) {}</script><style>p</style ><code>int <code>x</code>;</code><p translate=no>as "
      "<p>it "
      "</p>is &nbsp;</p><i class='x notranslate'>y</i>end";
  std::string again, text;
  for (const HtmlPart& part : parse_html(page)) {
    again += html_of(part);
    if (part.is_text) text += "[" + part.content + "]";
  }
  EXPECT_EQ(again, page);
  EXPECT_EQ(text, "[Hello big & wide][world <3][\n][end]");
}

TEST(Html, InlineTagsBelongToTheirText) {
  const auto parts = parse_html("&lt;a <b>x<i>y</b>z</i><IMG src=a><br><a>one<p>two</a>");
  ASSERT_EQ(parts.size(), 5u);
  EXPECT_EQ(parts[0].content, "<a xyz");
  std::string tags;
  for (const InlineTag& tag : parts[0].tags) {
    tags += std::to_string(tag.place) + tag.markup + (tag.partner ? std::to_string(*tag.partner) : "") + " ";
  }
  // Only nested tags have a partner.
  EXPECT_EQ(tags, "3<b> 4<i>3 5</b> 6</i>1 6<IMG src=a> ");
  EXPECT_EQ(parts[1].content, "<br>");
  ASSERT_EQ(parts[2].tags.size(), 1u);
  EXPECT_FALSE(parts[2].tags[0].partner);
  EXPECT_EQ(parts[3].content, "<p>");
  EXPECT_EQ(parts[4].tags.front().place, 3u);
}

// Returns text with inserted tags. Each word is one letter and translates the unit given by its digit in `units`. A tag
// is written "<b1" (begins before unit 1), ">b4" (ends before unit 4) or "-x2" (stands alone before unit 2). A capital
// letter means that the other half of the tag is missing.
std::string tagged(const std::string& units, const std::vector<std::string>& tags) {
  std::string text;
  std::vector<AlignedWord> words;
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (i > 0) text += ' ';
    text += static_cast<char>('a' + static_cast<int>(i));
    words.push_back({.begin = 2 * i, .end = 2 * i + 1, .unit = static_cast<std::size_t>(units[i] - '0')});
  }
  std::vector<std::string> markups;
  for (const std::string& tag : tags) markups.push_back((tag[0] == '>' ? "</" : "<") + tag.substr(1, 1) + ">");
  std::vector<AlignedTag> aligned;
  for (std::size_t i = 0; i < tags.size(); ++i) {
    using Kind = AlignedTag::Kind;
    const std::string& tag = tags[i];
    aligned.push_back({.kind = tag[0] == '<'   ? Kind::begin
                               : tag[0] == '>' ? Kind::end
                                               : Kind::alone,
                       .markup = markups[i],
                       .unit = static_cast<std::size_t>(tag[2] - '0'),
                       .is_whole = tag[1] >= 'a'});
  }
  return with_tags(text, words, aligned);
}

TEST(InlineTags, FollowTheWordsOfTheirUnits) {
  EXPECT_EQ(tagged("0123", {"<x1", ">x3"}), "a <x>b c</x> d");
  EXPECT_EQ(tagged("3210", {"<x0", ">x2"}), "a b <x>c d</x>");
  EXPECT_EQ(tagged("0210", {"<x1", ">x3"}), "a <x>b c</x> d");
  // A word between two words of the element is included; a word far away is not.
  EXPECT_EQ(tagged("01012222", {"<x1", ">x2"}), "a <x>b</x> c d e f g h");
  EXPECT_EQ(tagged("11011222", {"<x1", ">x2"}), "<x>a b c d e</x> f g h");
  EXPECT_EQ(tagged("12222221", {"<x1", ">x2"}), "<x>a</x> b c d e f g h");
  // Nested elements, and neighbouring elements in another order.
  EXPECT_EQ(tagged("012345", {"<x1", "<y2", ">y3", ">x5"}), "a <x>b <y>c</y> d e</x> f");
  EXPECT_EQ(tagged("3412", {"<x1", ">x3", "<y3", ">y5"}), "<y>a b</y> <x>c d</x>");
  EXPECT_EQ(tagged("5512", {"<x1", "<y5", ">y6", ">x3"}), "a b <x>c d<y></y></x>");
}

TEST(InlineTags, WithoutWordsKeepTheirPosition) {
  EXPECT_EQ(tagged("0123", {"-x2"}), "a b <x>c d");
  EXPECT_EQ(tagged("3120", {"-x2"}), "a b <x>c d");
  EXPECT_EQ(tagged("0011", {"-x5"}), "a b c d<x>");
  EXPECT_EQ(tagged("0123", {"<x2", ">x2"}), "a b <x></x>c d");
  EXPECT_EQ(tagged("0033", {"<x1", "<y1", ">y2", ">x2"}), "a b <x><y></y></x>c d");
  EXPECT_EQ(tagged("", {"<x1", ">x2", "-y3"}), "<x></x><y>");
}

TEST(InlineTags, MayBeginOrEndOutsideTheText) {
  EXPECT_EQ(tagged("0123", {">X2"}), "a b</X> c d");
  EXPECT_EQ(tagged("0123", {"<X2"}), "a b <X>c d");
  EXPECT_EQ(tagged("3210", {">X2"}), "</X>a b c d");
  EXPECT_EQ(tagged("0123", {"<y0", ">y1", ">X2", "<Z3"}), "<y>a</y> b</X> c <Z>d");
  EXPECT_EQ(tagged("0123", {">Y1", ">X2"}), "a</Y> b</X> c d");
  EXPECT_EQ(tagged("0123", {"<X1", "<Y2"}), "a <X>b <Y>c d");
}

TEST(Html, EntitiesAreCharacters) {
  const auto parts = parse_html(" caf&eacute;&#x20AC; &copy;2 &unknown; & a &lt;b&gt; 1 < 2 ");
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].content, " café€ ©2 &unknown; & a <b> 1 < 2 ");
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
    for (const HtmlPart& part : parse_html(html)) again += html_of(part);
    if (html.find('&') == std::string::npos && html.find("< ") == std::string::npos && html[0] != '<') {
      EXPECT_EQ(again, html);
    }
  }
}

// A tokenizer whose ids are the letters a to z.
class Letters final : public Tokenizer {
 public:
  std::string kind() const override { return "letters"; }
  std::string decode(std::span<const std::int32_t> ids) const override {
    std::string text;
    for (const std::int32_t id : ids) text += pieces_.at(static_cast<std::size_t>(id));
    return text;
  }
  std::string_view piece(std::int32_t id, TextSide) const override { return pieces_.at(static_cast<std::size_t>(id)); }
  std::optional<std::int32_t> token_id(std::string_view) const override { return std::nullopt; }

 private:
  std::vector<std::int32_t> encode_side(std::string_view, const EncodeOptions&, TextSide) const override { return {}; }

  std::vector<std::string> pieces_ = [] {
    std::vector<std::string> pieces;
    for (char c = 'a'; c <= 'z'; ++c) pieces.emplace_back(1, c);
    return pieces;
  }();
};

// Returns the text after each token, with a dot after each token's text, and the number of tokens that were taken.
std::string streamed(const std::string& letters, const std::vector<std::string>& stops) {
  const Letters tokenizer;
  StoppedText text(&tokenizer, stops);
  std::string all;
  std::size_t taken = 0;
  for (const char letter : letters) {
    const std::int32_t id = letter - 'a';
    taken += text.push(std::span(&id, 1));
    all += text.take() + ".";
  }
  text.finish();
  return all + text.take() + "|" + std::to_string(taken) + (text.is_stopped() ? " stopped" : "");
}

TEST(StoppedText, HoldsBackTextThatMayBecomeAStopText) {
  EXPECT_EQ(streamed("abcd", {}), "a.b.c.d.|4");
  EXPECT_EQ(streamed("abcd", {"c"}), "a.b...|3 stopped");
  EXPECT_EQ(streamed("abcd", {"bcx"}), "a...bcd.|4");
  EXPECT_EQ(streamed("abc", {"bcx"}), "a...bc|3");
  EXPECT_EQ(streamed("aabab", {"abab"}), ".a....|5 stopped");
  EXPECT_EQ(streamed("ababac", {"abac"}), "...ab...|6 stopped");
  // Stops at the stop text that is complete first.
  EXPECT_EQ(streamed("abcde", {"cd", "abcde"}), "...ab..|4 stopped");
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
  EXPECT_EQ(canonical_language(">><<"), ">><<");
  EXPECT_EQ(language_name("fr"), "French");
  EXPECT_EQ(language_name("arpabet"), "arpabet");
}

TEST(Languages, AreDetectedAmongTheGivenOnes) {
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
  std::set<std::string> routes = {"get /health", "get /ping", "get /ready"};  // not part of a protocol
  for (const auto some : {libretranslate_routes(), openai_routes(), tei_routes(), deepl_routes(), hugging_face_routes(),
                          native_routes(), openai_audio_routes(), whisper_cpp_routes(), rerank_routes()}) {
    for (const Route& route : some) {
      EXPECT_TRUE(routes.insert(lower_case(route.method) + " " + std::string(route.path)).second) << route.path;
    }
  }
  std::set<std::string> described;
  const auto api = nlohmann::json::parse(openapi());
  for (const auto& [path, operations] : api["paths"].items()) {
    const std::string pattern = std::regex_replace(path, std::regex("\\{[^}]*\\}"), "*");
    for (const auto& operation : operations.items()) described.insert(operation.key() + " " + pattern);
  }
  EXPECT_EQ(described, routes);
}

HttpRequest request_with(const std::string& name, const std::string& value) {
  HttpRequest request;
  request.headers.add(name, value);
  request.peer = "127.0.0.1";
  return request;
}

TEST(Keys, AreReadFromHeaders) {
  for (const char* value : {"Bearer a b", "bearer a b", "BEARER   a b", "DeepL-Auth-Key a b", "deepl-auth-key a b"}) {
    EXPECT_EQ(key_in(request_with("authorization", value)), "a b") << value;
  }
  EXPECT_EQ(key_in(request_with("x-api-key", "a b")), "a b");
  for (const char* value : {"", "Bearer", "Bearer ", "Basic a", "Bearera", "a"}) {
    EXPECT_EQ(key_in(request_with("authorization", value)), "") << value;
  }
}

TEST(Keys, IdentifyAClientIfTheyAreKnown) {
  const std::vector<std::string> keys = {"first", "second"};
  EXPECT_EQ(client_of(key_in(request_with("authorization", "bearer second")), "127.0.0.1", keys), "second");
  EXPECT_EQ(client_of(key_in(request_with("x-api-key", "first")), "127.0.0.1", keys), "first");
  EXPECT_EQ(client_of(key_in(request_with("x-api-key", "third")), "127.0.0.1", keys), "127.0.0.1");
  EXPECT_EQ(client_of(key_in(request_with("authorization", "Basic first")), "127.0.0.1", keys), "127.0.0.1");
  EXPECT_EQ(client_of(key_in(request_with("x-api-key", "first")), "127.0.0.1", {}), "127.0.0.1");
}

TEST(Forms, AreDecoded) {
  const Fields fields = parse_form("q=a+b%20c%C3%A9&empty=&alone&&q=2&x=%zz%4");
  EXPECT_EQ(fields["q"], "a b cé");
  EXPECT_EQ(fields["x"], "%zz%4");
  EXPECT_EQ(fields["empty"], "");
  EXPECT_NE(fields.find("alone"), nullptr);
  EXPECT_EQ(fields.find("none"), nullptr);
  EXPECT_EQ(fields.size(), 5u);
  EXPECT_EQ(parse_form(times("&a", 10'000)).size(), 10'000u);
  EXPECT_THROW(parse_form(times("&a", 10'001)), HttpError);
}

TEST(Forms, MayHaveSeveralParts) {
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

// Quadratic time would be hours.
TEST(Forms, OfAnyBytesTakeLinearTime) {
  constexpr int kBytes = 4 << 20;
  const std::string boundary(70, 'b'), type = "multipart/form-data; boundary=" + boundary;
  for (const std::string& part :
       {std::string(";"), std::string("a;"), std::string("a=;"), std::string("=;"), std::string("a = 1 ;"),
        std::string("a=\"\\\""), std::string(" "), std::string("\r"), std::string("\r\n"), std::string("a:\r\n"),
        "\r\n--" + boundary.substr(1), "\r\n--" + boundary, std::string("&"), std::string("%")}) {
    const std::string bytes = times(part, kBytes / static_cast<int>(part.size()));
    EXPECT_EQ(parameter_of("form-data" + bytes + "; x=\"y", "z"), "") << part;
    for (const std::string& form : {bytes, "--" + boundary + "\r\nContent-Disposition: form-data" + bytes,
                                    "--" + boundary + "\r\n" + bytes, "--" + boundary + "\r\n\r\n" + bytes}) {
      EXPECT_THROW(parse_multipart(form, type), HttpError) << part;
    }
    EXPECT_LE(parse_form(bytes).size(), 1u);
  }
}

}  // namespace
}  // namespace encdec::serve
