#include <encdec/engine/base/base64.h>
#include <encdec/engine/base/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "attention_example.h"
#include "tools/attention/page.h"
#include "tools/attention/svg.h"
#include "tools/attention/token_text.h"

namespace encdec::cli {
namespace {

using Json = nlohmann::json;

std::string page_of(const std::vector<AttentionExample>& examples) {
  std::string text;
  AttentionPage page([&](std::string_view piece) { text += piece; });
  for (const AttentionExample& example : examples) page.add(example);
  page.end();
  return text;
}

// Returns what browsers read as data: from the start tag of a script to the first "</script".
std::vector<Json> data_of(const std::string& page) {
  constexpr std::string_view kStart = "<script type=\"application/json\"";
  std::vector<Json> result;
  for (std::size_t at = page.find(kStart); at != std::string::npos; at = page.find(kStart, at + 1)) {
    const std::size_t title = page.find("data-title=\"", at) + 12, begin = page.find("\">", title) + 2;
    result.push_back(Json::parse(page.substr(begin, page.find("</script", begin) - begin)));
  }
  return result;
}

std::vector<double> weights_of(const Json& attention) {
  const std::string bytes = decode_base64(attention.at("weights").get<std::string>()).value();
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  std::vector<double> weights;
  for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) weights.push_back((byte(i) | byte(i + 1) << 8) / 65535.0);
  return weights;
}

TEST(AttentionPage, ContainsItsInput) {
  for (const int keys : {1, 2, 3, 4, 5, 50}) {
    LabelledAttention attention = random_attention(2, 3, {"▁a", "b"}, std::vector<std::string>(std::size_t(keys), "k"));
    const auto data = data_of(page_of({{"title", {attention}, {0, 0}}}));
    ASSERT_EQ(data.size(), 1U);
    EXPECT_EQ(data[0].at("alignment"), Json::parse("[[0, 0], [1, 0]]"));
    const Json& shown = data[0].at("attentions").at(0);
    EXPECT_EQ(shown.at("labels").at("kind"), "cross-attention");
    EXPECT_EQ(shown.at("labels").at("layers"), Json(attention.layers));
    EXPECT_EQ(shown.at("labels").at("heads"), Json(attention.heads));
    EXPECT_EQ(shown.at("labels").at("queries"), Json(attention.queries));
    EXPECT_EQ(shown.at("labels").at("keys"), Json(attention.keys));
    EXPECT_EQ(shown.at("labels").at("picture"), draw_svg_frame(attention));
    const auto weights = weights_of(shown);
    ASSERT_GE(weights.size(), static_cast<std::size_t>(attention.map.weights.elements()));
    for (std::int64_t i = 0; i < attention.map.weights.elements(); ++i) {
      EXPECT_NEAR(weights[static_cast<std::size_t>(i)], attention.map.weights.data<float>()[i], 0.5 / 65535 + 1e-9);
    }
  }
}

TEST(AttentionPage, WeightsAreRoundedNotTruncated) {
  const auto data = data_of(page_of({{"", {attention_of({"q"}, {"a", "b", "c"}, {1.0005F, 0, 0.7F / 65535})}, {}}}));
  EXPECT_THAT(weights_of(data[0].at("attentions").at(0)), testing::ElementsAre(1.0, 0.0, 1.0 / 65535));
}

TEST(AttentionPage, LongMapsAreWrittenInPieces) {
  const std::vector<std::string> tokens(200, "t");
  std::size_t longest = 0, total = 0;
  AttentionPage page([&](std::string_view piece) { total += piece.size(), longest = std::max(longest, piece.size()); });
  page.add({"", {random_attention(2, 4, tokens, tokens)}, {}});
  EXPECT_GE(total, 200U * 200 * 8 * 2 * 4 / 3);
  EXPECT_LE(longest, std::size_t{1} << 17);
}

TEST(AttentionPage, KeepsExamplesAndKindsSeparate) {
  LabelledAttention self = random_attention(1, 1, {"s"}, {"s"});
  self.map.kind = AttentionKind::encoder_self;
  const LabelledAttention cross = random_attention(1, 1, {"t"}, {"s"});
  const auto data = data_of(page_of({{"one", {self, cross}, {}}, {"two", {cross}, {}}}));
  ASSERT_EQ(data.size(), 2U);
  ASSERT_EQ(data[0].at("attentions").size(), 2U);
  EXPECT_EQ(data[0].at("attentions").at(0).at("labels").at("kind"), "encoder self-attention");
  EXPECT_EQ(data[0].at("attentions").at(0).at("labels").at("marked"), false);
  EXPECT_EQ(data[0].at("attentions").at(1).at("labels").at("marked"), true);
}

TEST(AttentionPage, HostileTextStaysData) {
  const LabelledAttention attention = random_attention(1, 1, hostile_tokens(), hostile_tokens());
  std::string title;
  for (const std::string& token : hostile_tokens()) title += token + "\">";
  const std::string page = page_of({{title, {attention}, {}}}),
                    plain = page_of({{"", {attention_of({"q"}, {"k"}, {1})}, {}}});
  for (const char* part : {"<script", "</script", "<!--", "-->"}) EXPECT_EQ(count(page, part), count(plain, part));
  EXPECT_EQ(count(page, "data-title=\""), 1U);
  EXPECT_EQ(page.find('\0'), std::string::npos);
  const std::size_t begin = page.find("data-title=\"") + 12;
  EXPECT_EQ(page.substr(page.find('"', begin), 3), "\">{");
  const Json labels = data_of(page).at(0).at("attentions").at(0).at("labels");
  for (std::size_t i = 0; i < hostile_tokens().size(); ++i) {
    EXPECT_EQ(labels.at("queries").at(i), visible(hostile_tokens()[i]));
    EXPECT_EQ(labels.at("keys").at(i), visible(hostile_tokens()[i]));
  }
}

TEST(AttentionPage, LoadsNothingFromElsewhere) {
  const std::string page = page_of({});
  EXPECT_THAT(page, testing::HasSubstr("http-equiv=\"Content-Security-Policy\" content=\"default-src 'none';"));
  for (const char* part : {"http:", "https:", " src=", "url(", "@import", "innerHTML", "document.write", "eval("}) {
    EXPECT_THAT(page, testing::Not(testing::HasSubstr(part)));
  }
}

TEST(AttentionPage, InvalidWeightsAreNamedBeforeAnythingIsWritten) {
  std::size_t written = 0;
  AttentionPage page([&](std::string_view piece) { written += piece.size(); });
  const std::size_t before = written;
  const auto message = [&](const AttentionExample& example) -> std::string {
    try {
      page.add(example);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message({}), "page: an example without attention, expected one kind at least");
  EXPECT_EQ(message({"", {attention_of({"q"}, {"k"}, {1.5F})}, {}}),
            "cross-attention: a weight is 1.5, expected 0 to 1");
  EXPECT_EQ(written, before);
}

}  // namespace
}  // namespace encdec::cli
