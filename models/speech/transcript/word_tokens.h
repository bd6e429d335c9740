#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace encdec {

// Returns the bytes of token ids: UTF-8, which may begin or end within a character.
using DecodeTokens = std::function<std::string(std::span<const std::int32_t>)>;

// Returns false for languages that are written without spaces between words: zh ja th lo my yue.
bool is_written_with_spaces(std::string_view language);

// A part of a text with its tokens.
struct WordTokens {
  std::string text;  // valid UTF-8, with U+FFFD in place of invalid bytes
  std::vector<std::int32_t> tokens;
};

// Splits tokens into words (openai/whisper tokenizer.py, split_to_word_tokens):
// 1. Cuts after each token that completes a character. Drops tokens after the last whole character.
// 2. In languages written with spaces (is_written_with_spaces()) joins these pieces to words. A new word starts at
//    a piece that begins with a space, that is ASCII punctuation or blank, or whose first id is at least `end_of_text`.
std::vector<WordTokens> split_to_word_tokens(std::span<const std::int32_t> tokens, std::string_view language,
                                             std::int32_t end_of_text, const DecodeTokens& decode);

}  // namespace encdec
