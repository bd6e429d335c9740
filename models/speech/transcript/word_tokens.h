#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace encdec {

// The bytes that token ids stand for: UTF-8, perhaps with a part of a character at either end.
using DecodeTokens = std::function<std::string(std::span<const std::int32_t>)>;

// A piece of a text and the tokens that it is written with.
struct WordTokens {
  std::string text;  // valid UTF-8: U+FFFD stands for what is none
  std::vector<std::int32_t> tokens;
};

// Cuts where tokens end characters. In languages written with spaces (all but zh ja th lo my yue), pieces are then
// joined: a word begins with a space, is ASCII punctuation or blank, or a token from `end_of_text` on. Tokens behind
// the last whole character are left out, as they are by openai/whisper (tokenizer.py, split_to_word_tokens).
std::vector<WordTokens> split_to_word_tokens(std::span<const std::int32_t> tokens, std::string_view language,
                                             std::int32_t end_of_text, const DecodeTokens& decode);

}  // namespace encdec
