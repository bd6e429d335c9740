#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "attention_example.h"
#include "tools/attention/png.h"
#include "tools/attention/svg.h"

namespace encdec::cli {
namespace {

// Width and height of a PNG image.
struct Size {
  int width = 0;
  int height = 0;
};

// Reads them from the image's first chunk, as big-endian integers (PNG specification, section 11.2.2).
Size size_of(const std::string& png) {
  EXPECT_THAT(png, testing::StartsWith("\x89PNG\r\n\x1a\n"));
  const auto integer = [&png](std::size_t at) {
    int value = 0;
    for (const char byte : png.substr(at, 4)) value = value << 8 | static_cast<unsigned char>(byte);
    return value;
  };
  return {integer(16), integer(20)};
}

std::string png(const LabelledAttention& attention) {
  return png_of(draw_svg("a → b", {&attention, 1}));
}

// Returns attention in which every query attends to all keys equally. Its image compresses fast.
LabelledAttention uniform_attention(int layers, int heads, const std::vector<std::string>& tokens) {
  LabelledAttention attention = random_attention(layers, heads, tokens, tokens);
  const auto keys = static_cast<float>(tokens.size());
  std::fill_n(attention.map.weights.data<float>(), attention.map.weights.elements(), 1 / keys);
  return attention;
}

TEST(AttentionPicture, HasTheSizeOfTheDrawing) {
  const LabelledAttention attention = random_attention(2, 3, {"q"}, {"k"});
  const Size size = size_of(png(attention));
  EXPECT_THAT(draw_svg("a → b", {&attention, 1}),
              testing::HasSubstr(fmt::format("width='{}' height='{}'", size.width, size.height)));
}

TEST(AttentionPicture, ShowsAllLayersAndHeadsOfAllKinds) {
  const std::vector<std::string> tokens(3, "a");
  const LabelledAttention all = uniform_attention(2, 3, tokens);
  EXPECT_EQ(count(draw_svg("", {&all, 1}), "class='cells'"), 6U);
  const LabelledAttention kinds[] = {all, all, all};
  EXPECT_EQ(count(draw_svg("", kinds), "class='cells'"), 18U);
  EXPECT_GT(size_of(png_of(draw_svg("", kinds))).height, 2 * size_of(png(all)).height);
}

TEST(AttentionPicture, IsReproducible) {
  const LabelledAttention attention = random_attention(2, 2, hostile_tokens(), hostile_tokens());
  EXPECT_EQ(png(attention), png(attention));
}

TEST(AttentionPicture, HostileTokensAreDrawnWithoutMessages) {
  testing::internal::CaptureStderr();
  const std::string text = png(random_attention(1, 1, hostile_tokens(), hostile_tokens()));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_LT(size_of(text).width, 1200);
}

TEST(AttentionPicture, ManyTokensGetSmallCells) {
  const std::vector<std::string> tokens(500, "▁token");
  const Size one = size_of(png(uniform_attention(1, 1, tokens)));
  EXPECT_LE(one.width, 6000);
  EXPECT_GE(one.width, 5000);
  const Size grid = size_of(png(uniform_attention(2, 8, tokens)));
  EXPECT_GE(grid.width, 8 * 500);
  EXPECT_LE(static_cast<std::int64_t>(grid.width) * grid.height, std::int64_t{64} << 20);
}

}  // namespace
}  // namespace encdec::cli
