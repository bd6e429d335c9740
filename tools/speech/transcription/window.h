#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "encdec/models/session/token_ids.h"
#include "encdec/speech/audio/audio_reader.h"
#include "encdec/speech/transcript/transcript.h"
#include "encdec/speech/transcript/word_times.h"
#include "encdec/speech/transcription/transcribe_options.h"
#include "encdec/speech/transcription/whisper_facts.h"

namespace encdec {

class Session;

// Returns the index of the 10 ms frame that is nearest to a time.
inline std::uint64_t frame_at(double seconds) {
  return static_cast<std::uint64_t>(std::max(std::nearbyint(seconds * LogMel::kFramesPerSecond), 0.0));
}

// Position of a window in its recording, in frames of 10 ms. Zeros fill the rest of the window.
struct WindowPosition {
  std::uint64_t first = 0;
  std::size_t frames = 0;

  double start() const { return static_cast<double>(first * LogMel::kHop) / AudioReader::kSampleRate; }
  double seconds() const { return static_cast<double>(frames * LogMel::kHop) / AudioReader::kSampleRate; }
};

// The result of decoding a window (openai/whisper decoding.py, DecodingResult).
struct DecodedWindow {
  TokenIds tokens = {};  // text and timestamps
  double temperature = 0;
  double avg_logprob = 0;
  double no_speech_prob = 0;
  double compression_ratio = 0;
  bool has_ended = false;              // false: the text was truncated at the token limit
  std::vector<WordTiming> words = {};  // words of all segments if word_timestamps is set, else empty
  // Optional. Called once after decoding, while `source` still has the window's encoder output.
  std::function<void(Session& session, int source)> on_decoded = {};

  // See TranscribeOptions::no_speech_threshold.
  bool is_silence(const TranscribeOptions& options) const {
    return options.no_speech_threshold && no_speech_prob > *options.no_speech_threshold &&
           !(options.logprob_threshold && avg_logprob > *options.logprob_threshold);
  }
  // Returns true if the window must be decoded again at the next temperature.
  bool needs_fallback(const TranscribeOptions& options) const;
};

struct SplitWindow {
  std::vector<TranscriptSegment> segments = {};
  std::size_t advance = 0;           // number of frames from the start of this window to the next window
  bool ends_with_timestamp = false;  // the last token is a single timestamp: no speech follows
};
// Splits a window's text at each pair of consecutive timestamps (openai/whisper transcribe.py).
SplitWindow split_window(const DecodedWindow& decoded, const WindowPosition& position, const WhisperTokens& tokens);

}  // namespace encdec
