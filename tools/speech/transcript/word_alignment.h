#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/engine/base/tensor.h"

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

// Cross-attention of the decoder while it read a window's tokens: the sot sequence, notimestamps, the text without
// timestamps, and eot.
struct AlignmentAttention {
  Tensor weights;                // [alignment heads, tokens, positions]: softmax over all positions of the encoder
  std::size_t frames = 0;        // positions of 20 ms to use: those that contain a part of the recording
  std::size_t sot_sequence = 0;  // number of tokens before notimestamps

  std::size_t heads() const { return static_cast<std::size_t>(weights.shape()[0]); }
  std::size_t tokens() const { return static_cast<std::size_t>(weights.shape()[1]); }
  // Returns the weights of the positions for a token.
  const float* row(std::size_t head, std::size_t token) const {
    return weights.row(static_cast<Dim>(head * tokens() + token));
  }
  // Returns the number of rows to align: those from notimestamps to the last token of the text, each of which predicts
  // the next token.
  std::size_t rows() const { return tokens() - sot_sequence - 1; }
};

// A word with its times, in seconds from the start of the window.
struct WordTiming {
  std::string text;
  std::vector<std::int32_t> tokens;
  double start = 0;
  double end = 0;
  double probability = 0;  // mean probability of the word's tokens
};

// Returns how well each position matches each row's token, compared with other tokens: [rows(), frames] (openai/whisper
// timing.py, find_alignment). For each head:
// 1. Takes the weights of the first `frames` positions, and scales each row to a sum of 1.
// 2. In each position subtracts the mean over tokens and divides by the (population) standard deviation over tokens.
// 3. Takes the median of 7 neighbours in time, mirrored at the ends. Skipped for 3 positions or fewer.
// Then takes the mean over heads. REQUIRES: there is a head, and an eot.
std::vector<float> alignment_matrix(const AlignmentAttention& attention);

// Finds the path with the largest sum through `benefit` [rows, columns], from the first cell to the last, by steps to
// the next row, the next column or both (dynamic time warping). Returns the first column of the path in each row; -1 if
// there are no columns or NaNs block the way.
// As in openai/whisper, the diagonal step and the step to the next row are taken only if their sum is larger than both
// other sums; otherwise the step to the next column is taken.
std::vector<std::ptrdiff_t> first_columns(std::span<const float> benefit, std::size_t rows);

// Returns the times of all words except the last, which is eot. Returns nothing if there is no text. `words` are those
// of text and eot (split_to_word_tokens). `probabilities` are those of the text's tokens, from a softmax over the ids
// below eot. REQUIRES: there is a probability for each token of text, and the words before eot have no more tokens.
std::vector<WordTiming> find_alignment(const AlignmentAttention& attention, std::span<const float> probabilities,
                                       std::span<const WordTokens> words);

}  // namespace encdec
