#pragma once

#include <span>

#include "encdec/models/speech/transcript/transcript.h"

namespace encdec {

// How unlike a spoken word it is: too short, too long or improbable (openai/whisper transcribe.py). 0 of an ordinary
// one.
double word_anomaly_score(const TranscriptWord& word);

// Whether the first eight words that are not punctuation are odd enough for the segment to be made up. Segments without
// words are not.
bool is_segment_anomaly(const TranscriptSegment& segment);

// The first segment that has words; null if there is none.
const TranscriptSegment* next_words_segment(std::span<const TranscriptSegment> segments);

}  // namespace encdec
