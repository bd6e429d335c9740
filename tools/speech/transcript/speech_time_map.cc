#include "encdec/speech/transcript/speech_time_map.h"

#include <algorithm>
#include <cmath>

namespace encdec {
namespace {

constexpr double kSamplesPerSecond = 16'000;

// Rounds like Python's round(seconds, 2): a tie between two hundredths is rounded to the even hundredth.
// `lost` is the rounding error of `scaled`. If `lost` is not 0, the exact product is not a tie.
double rounded_as_python(double seconds) {
  const double scaled = seconds * 100, lost = std::fma(seconds, 100, -scaled);
  if (std::abs(scaled - std::trunc(scaled)) != 0.5 || lost == 0) return std::nearbyint(scaled) / 100;
  return (lost > 0 ? std::ceil(scaled) : std::floor(scaled)) / 100;
}

}  // namespace

SpeechTimeMap::SpeechTimeMap(std::span<const SpeechSpan> spans) {
  std::uint64_t silence = 0, end = 0;
  for (const SpeechSpan& span : spans) {
    silence += span.start - end;
    end = span.end;
    spans_.push_back({static_cast<std::int64_t>(end - silence), static_cast<double>(silence) / kSamplesPerSecond});
  }
}

std::size_t SpeechTimeMap::span_at(double time, Edge edge) const {
  const auto sample = static_cast<std::int64_t>(time * kSamplesPerSecond);
  const auto found = edge == Edge::end ? std::ranges::lower_bound(spans_, sample, {}, &Joined::end)
                                       : std::ranges::upper_bound(spans_, sample, {}, &Joined::end);
  if (found == spans_.end() && found != spans_.begin()) return spans_.size() - 1;
  return static_cast<std::size_t>(found - spans_.begin());
}

double SpeechTimeMap::original(double time, std::size_t span) const {
  return rounded_as_python(spans_.empty() ? time : spans_[span].silence_before + time);
}

void SpeechTimeMap::restore(TranscriptSegment& segment) const {
  for (TranscriptWord& word : segment.words) {
    const std::size_t span = span_at((word.start + word.end) / 2);
    word.start = original(word.start, span);
    word.end = original(word.end, span);
  }
  segment.start = segment.words.empty() ? original(segment.start) : segment.words.front().start;
  segment.end = segment.words.empty() ? original(segment.end, Edge::end) : segment.words.back().end;
}

}  // namespace encdec
