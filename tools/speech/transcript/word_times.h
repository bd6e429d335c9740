#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "encdec/speech/transcript/transcript.h"
#include "encdec/speech/transcript/word_alignment.h"

namespace encdec {

// Marks that belong to the next word, and to the previous word (openai/whisper).
inline constexpr const char* kPrependPunctuations = "\"'“¿([{-";
inline constexpr const char* kAppendPunctuations = "\"'.。,，!！?？:：”)]}、";

// Moves the text and the tokens of each mark to the word that it belongs to. An entry with empty text remains.
void merge_punctuations(std::span<WordTiming> words, const std::string& prepend, const std::string& append);

// Returns the tokens of all segments that are below `end_of_text`.
std::vector<std::int32_t> text_tokens(std::span<const TranscriptSegment> segments, std::int32_t end_of_text);

struct WordTimeOptions {
  std::int32_t end_of_text = 0;
  double last_speech = 0;  // end of the last word in previous windows, in seconds
  std::string prepend_punctuations = kPrependPunctuations;
  std::string append_punctuations = kAppendPunctuations;
};

// Adds words to a window's segments, and sets the segments' times to the times of their words
// (openai/whisper timing.py, add_word_timestamps). Shortens words at sentence ends and after
// pauses. REQUIRES: segments have the same `seek`; `words` is find_alignment() of their text.
void add_word_timestamps(std::span<TranscriptSegment> segments, std::vector<WordTiming> words,
                         const WordTimeOptions& options);

// Returns the end of the last word or, without words, of the last segment. Returns nullopt without segments.
std::optional<double> speech_end(std::span<const TranscriptSegment> segments);

}  // namespace encdec
