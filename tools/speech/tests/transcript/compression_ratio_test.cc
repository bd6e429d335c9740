#include <gtest/gtest.h>

#include <string>

#include "encdec/speech/transcript/hallucination.h"

namespace encdec {
namespace {

std::string repeated(const std::string& text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

// Expected lengths come from Python's zlib.compress with zlib 1.2.13.
TEST(CompressionRatio, MatchesPython) {
  EXPECT_EQ(compression_ratio(""), 0.0);
  EXPECT_EQ(compression_ratio("a"), 1.0 / 9);
  EXPECT_EQ(compression_ratio("Hello, world!"), 13.0 / 21);
  EXPECT_EQ(compression_ratio(repeated("ha ", 100)), 300.0 / 15);
  EXPECT_EQ(compression_ratio(repeated("東京は晴れ。", 7)), 126.0 / 31);
  EXPECT_EQ(
      compression_ratio(" And so, my fellow Americans, ask not what your country can do for you, ask what you can "
                        "do for your country."),
      109.0 / 80);
  std::string text;
  for (int i = 0; i < 500; ++i) text += static_cast<char>(33 + i * i * 7 % 90);
  EXPECT_EQ(compression_ratio(text), 500.0 / 99);
  text.clear();
  for (int i = 0; i < 3000; ++i) text += "line " + std::to_string(i) + " of many\n";
  EXPECT_EQ(compression_ratio(text), 52890.0 / 7356);
}

}  // namespace
}  // namespace encdec
