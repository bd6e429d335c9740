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

// Definition of speech. Names, meanings and defaults are those of faster-whisper 1.2.1 (vad.py, VadOptions).
struct VoiceActivityOptions {
  // Probability at which speech begins.
  double threshold = 0.5;
  // Probability below which speech ends. Unset: threshold - 0.15, but at least 0.01.
  std::optional<double> neg_threshold = {};
  // Minimum length of speech; speech that is not longer is dropped.
  int min_speech_duration_ms = 0;
  // Maximum length of speech. Longer speech is cut at its last silence of more than 98 ms, or at the maximum if there
  // is no such silence.
  double max_speech_duration_s = std::numeric_limits<double>::infinity();
  // Minimum length of silence that ends speech. Shorter silence is part of the speech around it.
  int min_silence_duration_ms = 2000;
  // Silence to keep before and after speech. If the silence between two spans is too short for both, each gets half.
  int speech_pad_ms = 400;
};

// Returns the spans of speech in a recording of `samples` samples, in order and without overlaps. `probabilities` has
// one for each window of the recording (VoiceActivity). REQUIRES: the options are in the ranges of
// transcribe_settings().
std::vector<SpeechSpan> speech_spans(std::span<const float> probabilities, std::uint64_t samples,
                                     const VoiceActivityOptions& options);

}  // namespace encdec
