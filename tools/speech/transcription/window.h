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

// Returns the frame of 10 ms at a time.
inline std::uint64_t frame_at(double seconds) {
  return static_cast<std::uint64_t>(std::max(std::nearbyint(seconds * LogMel::kFramesPerSecond), 0.0));
}

// Position of a window in its recording, in frames of 10 ms.
struct WindowPlace {
  std::uint64_t first = 0;
  std::size_t frames = 0;  // frames of the recording in this window; the rest of the window is zeros

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
  bool has_ended = false;              // the model generated an end token; otherwise the text is cut at the limit
  std::vector<WordTiming> words = {};  // words of all segments, with word_timestamps
  // If set, called once with the window as source of the session, when the text above has been decoded.
  std::function<void(Session& session, int source)> then = {};

  // Returns whether the window counts as silent.
  bool is_silence(const TranscribeOptions& options) const {
    return options.no_speech_threshold && no_speech_prob > *options.no_speech_threshold &&
           !(options.logprob_threshold && avg_logprob > *options.logprob_threshold);
  }
  // Returns whether to decode the window again at the next temperature.
  bool needs_fallback(const TranscribeOptions& options) const;
};

// The segments of a window.
struct CutWindow {
  std::vector<TranscriptSegment> segments = {};
  std::size_t advance = 0;    // frames from this window to the next one
  bool ends_in_time = false;  // the last token is a single timestamp: no speech follows in this window
};
// Cuts a window's text into segments between two consecutive timestamps (openai/whisper transcribe.py).
CutWindow cut_window(const DecodedWindow& decoded, const WindowPlace& place, const WhisperTokens& tokens);

}  // namespace encdec
