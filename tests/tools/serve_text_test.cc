// Tests stop texts, keys and forms.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "server/access.h"
#include "server/http/form.h"
#include "server/stop_texts.h"

namespace encdec::serve {
namespace {

using testing::ElementsAre;

std::string times(const std::string& text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
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
  constexpr int kBytes = 1 << 20;
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
