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

// Returns the UTF-8 bytes of token ids. The bytes may begin or end within a character.
using DecodeTokens = std::function<std::string(std::span<const std::int32_t>)>;

// Returns false for zh, ja, th, lo, my and yue.
bool is_written_with_spaces(std::string_view language);

struct WordTokens {
  std::string text;  // with U+FFFD in place of invalid UTF-8
  std::vector<std::int32_t> tokens;
};

// Splits tokens into words (openai/whisper tokenizer.py, split_to_word_tokens):
// 1. Splits after each token that completes a character. Drops tokens after the last character.
// 2. In languages written with spaces, joins the parts to words. A part begins a word if it begins
//    with a space, if it is blank or ASCII punctuation, or if its first id is at least `end_of_text`.
std::vector<WordTokens> split_to_word_tokens(std::span<const std::int32_t> tokens, std::string_view language,
                                             std::int32_t end_of_text, const DecodeTokens& decode);

// Cross-attention of these tokens: start sequence, notimestamps, text without timestamps, eot.
struct AlignmentAttention {
  Tensor weights;                // [alignment heads, tokens, positions], softmax over positions
  std::size_t frames = 0;        // number of positions (20 ms) that contain a part of the recording
  std::size_t sot_sequence = 0;  // number of tokens before notimestamps

  std::size_t heads() const { return static_cast<std::size_t>(weights.shape()[0]); }
  std::size_t tokens() const { return static_cast<std::size_t>(weights.shape()[1]); }
  const float* row(std::size_t head, std::size_t token) const {
    return weights.row(static_cast<Dim>(head * tokens() + token));
  }
  // Returns the number of tokens from notimestamps to the last text token.
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

// Returns how well tokens match positions: [rows(), frames] (timing.py, find_alignment). Per head:
// 1. Uses the weights of the first `frames` positions, and scales each row to a sum of 1.
// 2. At each position, subtracts the mean over tokens and divides by the standard deviation.
// 3. Computes the median of 7 neighbours in time, mirrored at the ends. With 3 positions or
//    fewer, skips this step.
// Then computes the mean over heads. REQUIRES: there is a head, and an eot.
std::vector<float> alignment_matrix(const AlignmentAttention& attention);

// Finds the path with the largest sum through `benefit` [rows, columns] from the first cell to the
// last, by steps to the next row, column or both (dynamic time warping). Returns the path's first
// column in each row, or -1 if there are no columns or if NaN blocks all paths. As in openai/whisper, a step to the
// next row or to both is chosen only if it is better than both other steps; else the step to the next column.
std::vector<std::ptrdiff_t> first_columns(std::span<const float> benefit, std::size_t rows);

// Returns the times of all words before the last word, which is eot. Returns no words if there is no text.
// - words: from split_to_word_tokens() for the text and eot.
// - probabilities: of the text's tokens, from a softmax over the ids below eot.
// REQUIRES: each token of the text has a probability, and words before eot have no other tokens.
std::vector<WordTiming> find_alignment(const AlignmentAttention& attention, std::span<const float> probabilities,
                                       std::span<const WordTokens> words);

}  // namespace encdec
