#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "encdec/models/speech/transcript/speech_rules.h"
#include "encdec/models/speech/transcript/word_tokens.h"

namespace encdec {

// What the decoder looked at. By openai's rules while it read a window's text once more: rows are its inputs, the sot
// sequence, notimestamps, the text's tokens and eot, each followed by what it foretells. By those of transformers while
// it wrote that, times among it: rows are the tokens behind the prompt.
struct AlignmentAttention {
  // Cross-attention of heads that follow the speech, each [tokens, stride]: softmax over all positions of the encoder.
  std::vector<const float*> heads;
  std::size_t tokens = 0;
  std::size_t frames = 0;        // positions of 20 ms that the recording has in this window: its frames of 10 ms / 2
  std::size_t stride = 0;        // floats from row to row, at least `frames`
  std::size_t sot_sequence = 0;  // rows in front of notimestamps
  SpeechRules rules = SpeechRules::openai;

  // That words are told by: from notimestamps to the text's last token, or all.
  std::size_t rows() const { return rules == SpeechRules::openai ? tokens - sot_sequence - 1 : tokens; }
};

// A word and when it was said: seconds from where the window begins.
struct WordTiming {
  std::string text;
  std::vector<std::int32_t> tokens;
  double start = 0;
  double end = 0;
  double probability = 0;  // mean of its tokens'
};

// How much better than other tokens each position goes with each (openai/whisper timing.py, find_alignment;
// transformers generation_whisper.py, _extract_token_timestamps). Per head: weights of the first `frames` positions, by
// openai with sum 1; minus the mean over tokens, over their standard deviation (population's); median of 7 neighbours
// in time, mirrored at the ends, unless there are 3 positions or fewer. Then the mean over heads: [rows(), frames].
// Throws ShapeError if sizes do not fit together.
std::vector<float> alignment_matrix(const AlignmentAttention& attention);

// Dynamic time warping, in double, by transformers in float: of all ways from the first row and column of `benefit` to
// the last by steps to the next row, the next column, or both, the one with the largest sum. For each row, the first
// column where that way meets it; -1 if there are no columns, or where numbers that are none lead nowhere. As openai's,
// it takes a step of both only from where the sum is larger than at both others, one to the next row likewise, and else
// one to the next column.
std::vector<std::ptrdiff_t> first_columns(std::span<const float> benefit, std::size_t rows,
                                          SpeechRules rules = SpeechRules::openai);

// When each row's token gives way to the next one: seconds from where the window begins, by openai's rules one position
// before that where no way leads to the beginning.
std::vector<double> token_times(const AlignmentAttention& attention);

// When each of `words` was said; these are of the text and eot (split_to_word_tokens), and eot is not given back.
// `probabilities`: of the text's tokens, from a softmax over the ids below eot. None if there is no text. Throws
// ShapeError if sizes do not fit together.
std::vector<WordTiming> find_alignment(const AlignmentAttention& attention, std::span<const float> probabilities,
                                       std::span<const WordTokens> words);

}  // namespace encdec
