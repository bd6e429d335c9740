#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "encdec/speech/features/speech_spans.h"
#include "encdec/speech/transcript/transcript.h"

namespace encdec {

// A map from times in a recording's joined speech to times in the recording (faster-whisper 1.2.1 vad.py,
// SpeechTimestampsMap), in seconds. Results are rounded to two decimals.
// Example: for speech at 1-2 s and 5-6 s, time 1.5 of the joined speech maps to 5.5.
class SpeechTimeMap {
 public:
  // Kind of a time. At the border of two spans a start belongs to the second span, an end to the first.
  enum class Edge : std::uint8_t { start, end };

  // Without spans times are only rounded. REQUIRES: the spans are in order and do not overlap.
  explicit SpeechTimeMap(std::span<const SpeechSpan> spans);

  // Returns the number of the span that contains a time of the joined speech; the last span for a later time.
  std::size_t span_at(double time, Edge edge = Edge::start) const;
  // Returns the time in the recording, given the number of the span.
  double original(double time, std::size_t span) const;
  double original(double time, Edge edge = Edge::start) const { return original(time, span_at(time, edge)); }

  // Maps the times of a segment and its words (transcribe.py, restore_speech_timestamps). Both ends of a word are
  // mapped with the span of the word's middle. A segment with words gets the times of its first and last word.
  void restore(TranscriptSegment& segment) const;

 private:
  struct Joined {
    std::int64_t end = 0;       // end in the joined speech, in samples
    double silence_before = 0;  // seconds dropped from the recording before this span
  };
  std::vector<Joined> spans_;
};

}  // namespace encdec
