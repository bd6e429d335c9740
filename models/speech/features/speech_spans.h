#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace encdec {

// Samples [start, end) of a recording.
struct SpeechSpan {
  std::uint64_t start = 0;
  std::uint64_t end = 0;

  friend bool operator==(const SpeechSpan& a, const SpeechSpan& b) = default;
};

// What counts as speech. Names, meanings and defaults are those of faster-whisper 1.2.1 (vad.py, VadOptions).
struct VoiceActivityOptions {
  // Speech begins at this probability,
  double threshold = 0.5;
  // and ends below this one; if not set 0.15 less than `threshold`, but at least 0.01.
  std::optional<double> neg_threshold = {};
  // Speech that is not longer is left out.
  int min_speech_duration_ms = 0;
  // Longer speech is cut at its last silence of more than 98 ms, or else here.
  double max_speech_duration_s = std::numeric_limits<double>::infinity();
  // Shorter silence belongs to the speech around it.
  int min_silence_duration_ms = 2000;
  // Silence that stays before speech and behind it; half of it each where two would overlap.
  int speech_pad_ms = 400;
};

// Throws ConfigError where durations are negative or thresholds no numbers.
void check(const VoiceActivityOptions& options);

// Where there is speech in a recording of so many samples, by the probabilities of its windows (VoiceActivity): in
// order, without overlaps. Throws as check().
std::vector<SpeechSpan> speech_spans(std::span<const float> probabilities, std::uint64_t samples,
                                     const VoiceActivityOptions& options);

}  // namespace encdec
