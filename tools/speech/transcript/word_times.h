#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "encdec/speech/transcript/transcript.h"
#include "encdec/speech/transcript/word_alignment.h"

namespace encdec {

// Punctuation marks that belong to the following word, and to the preceding word (openai/whisper).
inline constexpr const char* kPrependPunctuations = "\"'“¿([{-";
inline constexpr const char* kAppendPunctuations = "\"'.。,，!！?？:：”)]}、";

// Moves text and tokens of each mark to the word that the mark belongs to. The mark's own entry stays, with empty text.
// No times change.
void merge_punctuations(std::span<WordTiming> words, const std::string& prepend, const std::string& append);

// Returns the tokens below `end_of_text` of all segments, in order.
std::vector<std::int32_t> text_tokens(std::span<const TranscriptSegment> segments, std::int32_t end_of_text);

struct WordTimeOptions {
  std::int32_t end_of_text = 0;
  double last_speech = 0;  // end of the last word in previous windows, in seconds of the recording
  std::string prepend_punctuations = kPrependPunctuations;
  std::string append_punctuations = kAppendPunctuations;
};

// Fills in the words of a window's segments, and adjusts the segments' times to them (openai/whisper timing.py,
// add_word_timestamps). Words at the ends of sentences and after pauses are shortened to twice the median duration.
// REQUIRES: `words` are those that find_alignment() returned for the text of all segments, and all segments have the
// same `seek`.
void add_word_timestamps(std::span<TranscriptSegment> segments, std::vector<WordTiming> words,
                         const WordTimeOptions& options);

// Returns the end of the last word, or of the last segment if there are no words, in seconds of the recording. Returns
// nullopt if there are no segments.
std::optional<double> speech_end(std::span<const TranscriptSegment> segments);

}  // namespace encdec
