#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "encdec/speech/transcript/word_alignment.h"
#include "encdec/speech/transcription/known_text.h"
#include "encdec/speech/transcription/transcription_task.h"

namespace encdec {

// Returns the words of a window's text with their times, like openai/whisper (timing.py). The decoder reads the
// text again; the times come from the alignment heads. Returns no words if `text` is empty.
// REQUIRES: all ids of `text` are below end_of_text.
std::vector<WordTiming> read_word_times(Session& session, int source, const TranscriptionTask& task,
                                        std::int32_t language, const WindowPosition& position, const TokenIds& text);

// The encoder positions [start, end) of a word; empty if the word was not found.
struct FoundWord {
  std::size_t start = 0;
  std::size_t end = 0;
  double probability = 0;  // exp(mean log-probability of the tokens with letters or digits)
};
// Returns the encoder positions of words. Unlike read_word_times(), uses only `positions`, which contain speech
// and are in ascending order, and ignores punctuation. Finds the likeliest path of a hidden
// Markov model, whose states are tokens and whose likelihoods are mean attention weights.
// REQUIRES: the tokens fit into the decoder's positions.
std::vector<FoundWord> find_words(Session& session, int source, const TranscriptionTask& task, std::int32_t language,
                                  std::span<const KnownWord> words, std::span<const std::size_t> positions);

}  // namespace encdec
