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

// The names, meanings and defaults are the same as in faster-whisper 1.2.1 (vad.py, VadOptions).
struct VoiceActivityOptions {
  // Speech begins at this probability.
  double threshold = 0.5;
  // Speech ends below this probability. The default is threshold - 0.15, but at least 0.01.
  std::optional<double> neg_threshold = {};
  // Speech that is not longer than this is dropped.
  int min_speech_duration_ms = 0;
  // Longer speech is split at its last silence of more than 98 ms or, without such a silence, at this length.
  double max_speech_duration_s = std::numeric_limits<double>::infinity();
  // Shorter silence does not end speech.
  int min_silence_duration_ms = 2000;
  // Silence to keep on both sides of speech. Silence that is too short for both paddings is divided equally.
  int speech_pad_ms = 400;
};

// Returns the speech in a recording of `samples` samples, in order and without overlaps.
// `probabilities` has one value per VoiceActivity::kWindow samples. REQUIRES: the options are in
// the ranges of transcribe_settings().
std::vector<SpeechSpan> speech_spans(std::span<const float> probabilities, std::uint64_t samples,
                                     const VoiceActivityOptions& options);

}  // namespace encdec
