#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "encdec/speech/features/speech_spans.h"
#include "encdec/speech/transcript/transcript.h"

namespace encdec {

// Maps times in joined speech to times in the recording, in seconds, rounded to two decimals
// (faster-whisper 1.2.1 vad.py, SpeechTimestampsMap).
// Example: for speech at 1-2 s and 5-6 s, time 1.5 of the joined speech maps to 5.5.
class SpeechTimeMap {
 public:
  // At the boundary of two spans, a start belongs to the second span, and an end to the first span.
  enum class Edge : std::uint8_t { start, end };

  // If `spans` is empty, times are only rounded. REQUIRES: spans are in order and do not overlap.
  explicit SpeechTimeMap(std::span<const SpeechSpan> spans);

  // Returns the index of the span at a time of the joined speech. After the end, returns the last index.
  std::size_t span_at(double time, Edge edge = Edge::start) const;
  // Returns the time in the recording. `span` is span_at() of the time.
  double original(double time, std::size_t span) const;
  double original(double time, Edge edge = Edge::start) const { return original(time, span_at(time, edge)); }

  // Maps the times of a segment and its words (transcribe.py, restore_speech_timestamps). The span at the middle of a
  // word is used for both times of the word. If the segment has words, its times are set from its words.
  void restore(TranscriptSegment& segment) const;

 private:
  struct Joined {
    std::int64_t end = 0;       // end of the span in the joined speech, in samples
    double silence_before = 0;  // total silence before the span, in seconds
  };
  std::vector<Joined> spans_;
};

}  // namespace encdec
