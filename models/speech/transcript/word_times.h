#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "encdec/models/speech/transcript/transcript.h"
#include "encdec/models/speech/transcript/word_alignment.h"

namespace encdec {

// As times are written: whole hundredths of a second.
double to_hundredths(double seconds);

// Marks that belong to the word behind them, or before. openai/whisper's.
inline constexpr const char* kPrependPunctuations = "\"'“¿([{-";
inline constexpr const char* kAppendPunctuations = "\"'.。,，!！?？:：”)]}、";

// Gives marks to their words: text and tokens of a mark go over to the word, and what is left of it is empty. Times
// stay.
void merge_punctuations(std::span<WordTiming> words, const std::string& prepend, const std::string& append);

// Tokens below `end_of_text` of all segments, in order: what find_alignment's words are of.
std::vector<std::int32_t> text_tokens(std::span<const TranscriptSegment> segments, std::int32_t end_of_text);

struct WordTimeOptions {
  std::int32_t end_of_text = 0;
  double last_speech = 0;  // seconds of the recording, when the windows before ended to speak
  std::string prepend_punctuations = kPrependPunctuations;
  std::string append_punctuations = kAppendPunctuations;
};

// Gives the segments of one window their words, and times that go by these (openai/whisper timing.py,
// add_word_timestamps): words at the ends of sentences and beside pauses are made no longer than twice the median.
// `words`: of all segments' text, from find_alignment. Segments share one `seek`.
void add_word_timestamps(std::span<TranscriptSegment> segments, std::vector<WordTiming> words,
                         const WordTimeOptions& options);

// What is known of one of a window's tokens.
struct TokenTiming {
  double start = 0;  // seconds from where the window begins: when the token before gave way to it
  double end = 0;    // likewise: when it gave way to the next one
  double probability = 0;
};

// Gives a segment its words by transformers' definition (tokenization_whisper.py, _collate_word_timestamps): from where
// its first token begins to where its last one ends, punctuation and all. `timings`: of the segment's tokens, which may
// be longer than the text; `words` of its text.
void add_token_words(TranscriptSegment& segment, std::span<const TokenTiming> timings, std::vector<WordTiming> words,
                     const WordTimeOptions& options);

// Seconds of the recording when the last word ends; where segments have no words, the last segment; nullopt of none.
std::optional<double> speech_end(std::span<const TranscriptSegment> segments);

}  // namespace encdec
