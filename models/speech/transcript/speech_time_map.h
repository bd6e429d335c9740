#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "encdec/models/speech/features/speech_spans.h"
#include "encdec/models/speech/transcript/transcript.h"

namespace encdec {

// Times of a recording's joined speech as times of the recording (faster-whisper 1.2.1 vad.py, SpeechTimestampsMap):
// seconds, rounded to two decimals. Where two spans meet, a start belongs to the second and an end to the first; what
// comes behind all speech belongs to the last span.
class SpeechTimeMap {
 public:
  enum class Edge : std::uint8_t { start, end };

  // In order, without overlaps; without any, times are only rounded.
  explicit SpeechTimeMap(std::span<const SpeechSpan> spans);

  // Number of the span that a time is in.
  std::size_t span_at(double time, Edge edge = Edge::start) const;
  // Of a time that is known to be in that span.
  double original(double time, std::size_t span) const;
  double original(double time, Edge edge = Edge::start) const { return original(time, span_at(time, edge)); }

  // Of a segment, its words, if it has any, and itself: both ends of a word are in one span, that of its middle
  // (transcribe.py, restore_speech_timestamps).
  void restore(TranscriptSegment& segment) const;

 private:
  struct Joined {
    std::int64_t end = 0;       // samples of the joined speech
    double silence_before = 0;  // seconds that are left out up to here
  };
  std::vector<Joined> spans_;
};

}  // namespace encdec
