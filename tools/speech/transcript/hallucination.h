#pragma once

#include <span>
#include <string_view>

#include "encdec/speech/transcript/transcript.h"

namespace encdec {

// Returns (bytes of the text) / (bytes that zlib compresses it to at level 6, header and checksum included). A text
// that repeats itself has a high ratio (openai/whisper utils.py). Returns 0 for an empty text.
double compression_ratio(std::string_view text);

// Returns how unusual a word is: too short, too long or improbable (openai/whisper transcribe.py); 0 for a usual word.
double word_anomaly_score(const TranscriptWord& word);

// Returns whether a segment is probably hallucinated, by the scores of its first eight words that are not punctuation.
// Returns false for a segment without words.
bool is_segment_anomaly(const TranscriptSegment& segment);

// Returns the first segment that has words; null if there is none.
const TranscriptSegment* next_words_segment(std::span<const TranscriptSegment> segments);

}  // namespace encdec
