#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "attention_example.h"
#include "tests/support/message_of.h"
#include "tools/attention/svg.h"

namespace encdec::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string svg(const LabelledAttention& attention, std::string_view title = {}) {
  return draw_svg(title, {&attention, 1});
}

struct Size {
  int width = 0, height = 0;
};

Size size_of(const std::string& picture) {
  const auto number = [&](const std::string& name) {
    return std::stoi(picture.substr(picture.find(name) + name.size()));
  };
  return {number(" width='"), number(" height='")};
}

std::string cell(int number, std::string_view path) {
  const Color color = color_of(number);
  return fmt::format("<path fill='#{:02x}{:02x}{:02x}' d='{}'", color.red, color.green, color.blue, path);
}

TEST(AttentionSvg, CellsHaveTheColorsAndTooltipsOfTheirWeights) {
  const std::string text = svg(attention_of({"a", "b"}, {"c", "d"}, {0, 0.4F, 0.8F, 0.2F}));
  EXPECT_THAT(text, HasSubstr(cell(0, "M0 0h1v1H0z") + "><title>a attends to c with weight 0</title>"));
  EXPECT_THAT(text, HasSubstr(cell(32, "M1 0h1v1H1z") + "><title>a attends to d with weight 0.4</title>"));
  EXPECT_THAT(text, HasSubstr(cell(64, "M0 1h1v1H0z") + "><title>b attends to c with weight 0.8</title>"));
  EXPECT_THAT(text, HasSubstr(cell(16, "M1 1h1v1H1z") + "><title>b attends to d with weight 0.2</title>"));
  EXPECT_THAT(text, HasSubstr(">0.8</text>")) << "the end of the scale";
}

TEST(AttentionSvg, CellsOfAGridArePathsOfOneColor) {
  LabelledAttention attention = random_attention(1, 2, {"q", "r"}, {"a", "b", "c"});
  std::ranges::copy(std::vector<float>{1, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0}, attention.map.weights.data<float>());
  const std::string text = svg(attention);
  EXPECT_THAT(text, HasSubstr(cell(64, "M0 0h2v1H0zM2 1h1v1H2z") + "/>"));
  EXPECT_THAT(text, HasSubstr(cell(0, "M2 0h1v1H2zM0 1h2v1H0z") + "/>"));
  EXPECT_THAT(text, HasSubstr(cell(0, "M0 0h3v1H0zM0 1h3v1H0z") + "/>"));
  EXPECT_EQ(count(text, "class='cells'"), 2U);
  EXPECT_THAT(text, HasSubstr(">layer 1, head 2</text>"));
}

TEST(AttentionSvg, AxesHaveTitles) {
  LabelledAttention attention = attention_of({"q"}, {"k"}, {1});
  EXPECT_THAT(svg(attention), testing::AllOf(HasSubstr(">target tokens written<"), HasSubstr(">source tokens read<")));
  attention.map.kind = AttentionKind::encoder_self;
  EXPECT_THAT(svg(attention), testing::AllOf(HasSubstr(">source tokens encoded<"), HasSubstr(">source tokens read<")));
  attention.map.kind = AttentionKind::decoder_self;
  EXPECT_THAT(svg(attention), testing::AllOf(HasSubstr(">target tokens written<"), HasSubstr(">target tokens read<")));
}

TEST(AttentionSvg, LongTitlesAreWrappedAndThenCut) {
  const LabelledAttention attention = attention_of({"q"}, {"k"}, {1});
  EXPECT_THAT(svg(attention, "the cat → a < b"), HasSubstr(">the cat → a &lt; b</text>"));
  std::string words;
  for (int i = 0; i < 9; ++i) words += "fifteen_letters ";
  EXPECT_EQ(count(svg(attention, words), ">fifteen_letters fifteen_letters </text>"), 3U);
  EXPECT_THAT(svg(attention, words), HasSubstr(">fifteen_letters fifteen_letters fiftee…</text>"));
  std::string ideographs;
  for (int i = 0; i < 500; ++i) ideographs += "猫";
  EXPECT_EQ(count(svg(attention, ideographs), "猫…</text>"), 1U);
}

TEST(AttentionSvg, HostileTextStaysText) {
  const LabelledAttention attention = random_attention(1, 1, hostile_tokens(), hostile_tokens());
  std::string title;
  for (const std::string& token : hostile_tokens()) title += token.substr(0, 100);
  const std::string text = svg(attention, title);
  for (const char* part : {"<script", "<!--", "\x1b", "\xc2\x9b", "\xff", "\u202E", "\u2028"}) {
    EXPECT_THAT(text, Not(HasSubstr(part)));
  }
  EXPECT_EQ(text.find('\0'), std::string::npos);
  EXPECT_EQ(count(text, "<text"), count(text, "</text>"));
  EXPECT_THAT(text, HasSubstr("&lt;/script&gt;"));
  EXPECT_EQ(text, svg(attention, title)) << "reproducible";
}

TEST(AttentionSvg, RightToLeftTokensHaveNoMarksInside) {
  EXPECT_THAT(svg(attention_of({"▁שלום"}, {"k"}, {1})), HasSubstr("</tspan>שלום</text>"));
}

TEST(AttentionSvg, LongTokensAreCut) {
  EXPECT_THAT(svg(attention_of({"abcdefghijklmnopq"}, {"k"}, {1})), HasSubstr(">abcdefghijklmno…</text>"));
}

TEST(AttentionSvg, LongMapsHaveNoTooltips) {
  const std::vector<std::string> tokens(101, "t");
  const std::string text = svg(random_attention(1, 1, tokens, tokens));
  EXPECT_EQ(count(text, "<title>"), 0U);
  EXPECT_LE(count(text, "<path"), kColors + 1U);
}

TEST(AttentionSvg, ShowsAllLayersAndHeadsOfAllKinds) {
  const LabelledAttention all = random_attention(2, 3, {"q"}, {"k"});
  EXPECT_EQ(count(svg(all), "class='cells'"), 6U);
  const LabelledAttention kinds[] = {all, all, all};
  EXPECT_EQ(count(draw_svg("", kinds), "class='cells'"), 18U);
  EXPECT_GT(size_of(draw_svg("", kinds)).height, 2 * size_of(svg(all)).height);
}

TEST(AttentionSvg, ManyTokensGetSmallCells) {
  const std::vector<std::string> tokens(500, "▁token");
  const Size one = size_of(svg(random_attention(1, 1, tokens, tokens)));
  EXPECT_LE(one.width, 6000);
  EXPECT_GE(one.width, 5000);
  const Size grid = size_of(svg(random_attention(2, 8, tokens, tokens)));
  EXPECT_GE(grid.width, 8 * 500);
  EXPECT_LE(static_cast<std::int64_t>(grid.width) * grid.height, std::int64_t{64} << 20);
}

TEST(AttentionSvg, NamesWhatCannotBeDrawn) {
  EXPECT_THAT(
      message_of([] { svg(random_attention(2, 500, {"t"}, {"t"})); }),
      testing::MatchesRegex("image: [0-9]+ x [0-9]+ pixels, expected at most 32767 per side and 67108864 in total"));
  EXPECT_THROW(draw_svg("", {}), InputError);
  EXPECT_EQ(message_of([] { svg(attention_of({"q"}, {"k"}, {1.5F})); }),
            "cross-attention: a weight is 1.5, expected 0 to 1");
}

TEST(WeightScale, ColorsGoFromWhiteToDarkBlue) {
  EXPECT_EQ(color_of(0), (Color{255, 255, 255}));
  EXPECT_EQ(color_of(kColors / 2), (Color{49, 150, 221}));
  EXPECT_EQ(color_of(kColors - 1), (Color{0, 43, 100}));
  EXPECT_EQ(color_number(0.4F, 0.8F), kColors / 2);
  EXPECT_EQ(color_number(1.001F, 1), kColors - 1);
  EXPECT_EQ(color_number(0, 0), 0);
}

TEST(WeightScale, NumbersHaveUpToThreeDigits) {
  EXPECT_EQ(weight_text(0.75002F), "0.75");
  EXPECT_EQ(weight_text(0.0123456F), "0.0123");
  EXPECT_EQ(weight_text(1), "1");
}

}  // namespace
}  // namespace encdec::cli
