#pragma once

#include <span>

#include "encdec/models/speech/transcript/transcript.h"

namespace encdec {

// Returns how unusual a word is: too short, too long or improbable (openai/whisper transcribe.py); 0 for a usual word.
double word_anomaly_score(const TranscriptWord& word);

// Returns whether a segment is probably hallucinated, by the scores of its first eight words that are not punctuation.
// Returns false for a segment without words.
bool is_segment_anomaly(const TranscriptSegment& segment);

// Returns the first segment that has words; null if there is none.
const TranscriptSegment* next_words_segment(std::span<const TranscriptSegment> segments);

}  // namespace encdec
