#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "encdec/speech/transcript/word_alignment.h"
#include "encdec/speech/transcription/known_text.h"
#include "encdec/speech/transcription/transcription_task.h"

namespace encdec {

// Returns the words of a window's text with their times, as openai/whisper (timing.py): the decoder reads the text
// again, and the cross-attention of the alignment heads yields the times. Returns no words if `text` is empty.
// REQUIRES: `text` consists of ids below end_of_text.
std::vector<WordTiming> read_word_times(Session& session, int source, const TranscriptionTask& task,
                                        std::int32_t language, const WindowPlace& place, const TokenIds& text);

// The place of a word, in positions of the encoder.
struct FoundWord {
  std::size_t start = 0;
  std::size_t end = 0;     // equal to `start` if the word has no place
  double probability = 0;  // exp(mean log-probability of the tokens with letters or digits)
};
// Lets the decoder read words, and returns the place of each. Unlike read_word_times() gives `positions`, those with
// speech in ascending order, to words and none to their punctuation: by the likeliest path of a hidden Markov model,
// whose states are the tokens and whose likelihoods are the mean weights of the heads.
// REQUIRES: the tokens fit into the decoder's positions.
std::vector<FoundWord> find_words(Session& session, int source, const TranscriptionTask& task, std::int32_t language,
                                  std::span<const KnownWord> words, std::span<const std::size_t> positions);

}  // namespace encdec
