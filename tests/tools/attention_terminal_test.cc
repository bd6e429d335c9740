#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "attention_example.h"
#include "tests/support/message_of.h"
#include "tools/attention/terminal.h"

namespace encdec::cli {
namespace {

using Colors = TerminalStyle::Colors;

std::string drawn(const LabelledAttention& attention, const TerminalStyle& style) {
  std::string text;
  draw_in_terminal(attention, style, [&](std::string_view piece) { text += piece; });
  return text;
}

LabelledAttention small() {
  return attention_of({"▁Die", "Katze"}, {"▁The", "猫", "!"}, {0.8F, 0.2F, 0, 0, 0.4F, 0.6F});
}

TEST(AttentionTerminal, WithoutColorsWeightsAreCharacters) {
  EXPECT_EQ(drawn(small(), {Colors::none, 80}),
            "cross-attention, layer 3, mean of heads\n"
            "target tokens written (rows), source tokens read (columns)\n"
            "\n"
            "      ▁\n"
            "      T\n"
            "      h\n"
            "      e 猫!\n"
            " ▁Die @@::\n"
            "Katze   ++##\n"
            "\n"
            "weight 0   ..::--==++**##%%@@ 0.8\n");
}

TEST(AttentionTerminal, TruecolorCellsAreSpacesOnColor) {
  const std::string text = drawn(small(), {Colors::truecolor, 80});
  EXPECT_THAT(
      text, testing::HasSubstr("\n ▁Die \x1b[48;2;0;43;100m  \x1b[48;2;135;207;254m  \x1b[48;2;255;255;255m  \x1b[0m\n"
                               "Katze \x1b[48;2;255;255;255m  \x1b[48;2;49;150;221m  "
                               "\x1b[48;2;0;94;167m  \x1b[0m\n"));
}

TEST(AttentionTerminal, NeighboursOfTheSameColorShareOneCode) {
  EXPECT_THAT(drawn(attention_of({"q"}, {"a", "b"}, {0.5F, 0.5F}), {Colors::cube, 80}),
              testing::HasSubstr("\nq \x1b[48;5;17m    \x1b[0m\n"));
}

TEST(AttentionTerminal, WideMapsContinueBelow) {
  EXPECT_EQ(drawn(attention_of({"ab", "c"}, {"1", "2", "3"}, {1, 0, 0, 0, 0, 1}), {Colors::none, 7}),
            "cross-attention, layer 3, mean of heads\n"
            "target tokens written (rows), source tokens read (columns)\n"
            "\n"
            "   1 2\n"
            "ab @@\n"
            " c\n"
            "\n"
            "   3\n"
            "ab\n"
            " c @@\n"
            "\n"
            "weight 0   ..::--==++**##%%@@ 1\n");
}

TEST(AttentionTerminal, ATerminalOfOneColumnGetsOneKeyPerPanel) {
  const std::string text = drawn(small(), {Colors::none, 1});
  EXPECT_THAT(text, testing::HasSubstr("… @@\n"));
}

TEST(AttentionTerminal, EachLayerAndHeadHasItsTitle) {
  LabelledAttention attention = random_attention(2, 2, {"q"}, {"k"});
  attention.map.kind = AttentionKind::decoder_self;
  const std::string text = drawn(attention, {});
  for (const char* title : {"layer 1, head 1", "layer 1, head 2", "layer 2, head 1", "layer 2, head 2"}) {
    EXPECT_THAT(text, testing::HasSubstr(std::string("decoder self-attention, ") + title + "\n"));
  }
  attention = random_attention(1, 1, {"q"}, {"k"});
  attention.layers = attention.heads = {"mean"};
  EXPECT_THAT(drawn(attention, {}), testing::StartsWith("cross-attention, mean of layers and heads\n"));
}

TEST(AttentionTerminal, MapsOfZerosAreDrawn) {
  EXPECT_THAT(drawn(attention_of({"q"}, {"k"}, {0}), {}), testing::EndsWith("@@ 0\n"));
}

TEST(AttentionTerminal, TokensCannotControlTheTerminal) {
  const LabelledAttention attention = random_attention(1, 1, hostile_tokens(), hostile_tokens());
  for (const Colors colors : {Colors::none, Colors::cube, Colors::truecolor}) {
    std::string text = drawn(attention, {colors, 80});
    for (std::size_t at = text.find('\x1b'); at != std::string::npos; at = text.find('\x1b')) {
      ASSERT_THAT(text.substr(at, 6), testing::AnyOf(testing::StartsWith("\x1b[48;"), testing::StartsWith("\x1b[0m")));
      text.erase(at, 1);
    }
    for (const char c : text) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
    for (const char* hidden : {"\x7f", "\xc2\x9b", "\u202E", "\u2066", "\u2028", "\u00AD", "\xff"}) {
      EXPECT_THAT(text, testing::Not(testing::HasSubstr(hidden)));
    }
  }
}

TEST(AttentionTerminal, InvalidWeightsAreNamed) {
  const auto message = [](float weight) {
    return message_of<InputError>([&] { drawn(attention_of({"q"}, {"k"}, {weight}), {}); });
  };
  EXPECT_EQ(message(1.5F), "cross-attention: a weight is 1.5, expected 0 to 1");
  EXPECT_EQ(message(std::numeric_limits<float>::quiet_NaN()), "cross-attention: a weight is nan, expected 0 to 1");
}

}  // namespace
}  // namespace encdec::cli
