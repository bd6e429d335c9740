#include <gtest/gtest.h>

#include <map>

#include "encdec/speech/transcript/word_alignment.h"
#include "tools/speech/tests/transcript/word_golden.h"

namespace encdec {
namespace {

// Decodes pairs of hexadecimal digits.
std::string from_hex(const std::string& digits) {
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

TEST(WordTokens, MatchOpenai) {
  for (const auto& golden : golden_speech("word_tokens")) {
    std::map<std::int32_t, std::string> bytes;
    for (const auto& [token, hex] : golden.at("bytes").items()) bytes[std::stoi(token)] = from_hex(hex);
    const auto decode = [&](std::span<const std::int32_t> tokens) {
      std::string text;
      for (const std::int32_t token : tokens) text += bytes.at(token);
      return text;
    };
    const auto tokens = golden.at("tokens").get<std::vector<std::int32_t>>();
    const auto words = split_to_word_tokens(tokens, golden.at("language").get<std::string>(), golden.at("eot"), decode);
    nlohmann::json found = nlohmann::json::array();
    for (const WordTokens& word : words) found.push_back({{"text", word.text}, {"tokens", word.tokens}});
    EXPECT_EQ(found, golden.at("words"));
  }
}

// Decoders may leave special tokens out.
TEST(WordTokens, EndOfTextIsAWordWhateverItDecodesTo) {
  const std::vector<std::int32_t> tokens = {1, 2, 9};
  for (const char* end : {"", "x", "<|endoftext|>"}) {
    const auto decode = [&](std::span<const std::int32_t> ids) {
      std::string text;
      for (const std::int32_t id : ids) text += id == 1 ? " a" : id == 2 ? "b" : end;
      return text;
    };
    const auto words = split_to_word_tokens(tokens, "en", 9, decode);
    ASSERT_EQ(words.size(), 2u) << end;
    EXPECT_EQ(words[0].text, " ab");
    EXPECT_EQ(words[1].tokens, std::vector<std::int32_t>{9});
  }
}

}  // namespace
}  // namespace encdec
