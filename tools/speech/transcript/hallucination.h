#pragma once

#include <span>
#include <string_view>

#include "encdec/speech/transcript/transcript.h"

namespace encdec {

// Returns (bytes of the text) / (bytes after zlib compression at level 6), like openai/whisper (utils.py).
// The ratio is high if the text repeats itself, and 0 for an empty text.
double compression_ratio(std::string_view text);

// Returns a score above 0 if a word is too short, too long or improbable (openai/whisper transcribe.py).
double word_anomaly_score(const TranscriptWord& word);

// Returns true if a segment is probably hallucinated, judged by the scores of its first eight words.
bool is_segment_anomaly(const TranscriptSegment& segment);

// Returns the first segment with words, or null if no segment has words.
const TranscriptSegment* next_words_segment(std::span<const TranscriptSegment> segments);

}  // namespace encdec
