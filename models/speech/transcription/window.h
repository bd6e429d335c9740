#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "encdec/models/session/token_ids.h"
#include "encdec/models/speech/audio/audio_reader.h"
#include "encdec/models/speech/transcript/transcript.h"
#include "encdec/models/speech/transcript/word_times.h"
#include "encdec/models/speech/transcription/transcribe_options.h"
#include "encdec/models/speech/transcription/whisper_facts.h"

namespace encdec {

// Where a window stands in its recording: frames of 10 ms.
struct WindowPlace {
  std::uint64_t first = 0;
  std::size_t frames = 0;  // of the recording; behind them there is nothing
  std::int64_t sound = 0;  // frames from `first` to where the recording ends; behind may be silence that counts

  double start() const { return static_cast<double>(first * LogMel::kHop) / AudioReader::kSampleRate; }
  double seconds() const { return static_cast<double>(frames * LogMel::kHop) / AudioReader::kSampleRate; }
};

// What the model makes of a window (openai/whisper decoding.py, DecodingResult).
struct DecodedWindow {
  TokenIds tokens = {};  // text and times
  double temperature = 0;
  double avg_logprob = 0;
  double no_speech_prob = 0;
  double compression_ratio = 0;
  bool has_ended = false;  // else it was cut at the limit
  // Where word times are asked for: of the text of all segments or, by transformers' rules, of each token.
  std::vector<WordTiming> words = {};
  std::vector<TokenTiming> timings = {};

  // Whether it has no speech at all.
  bool is_silence(const TranscribeOptions& options) const {
    return options.no_speech_threshold && no_speech_prob > *options.no_speech_threshold &&
           !(options.logprob_threshold && avg_logprob > *options.logprob_threshold);
  }
  // Whether it is to be tried again at a higher temperature.
  bool needs_fallback(const TranscribeOptions& options) const;
};

// A window's segments, cut where two times follow each other (openai/whisper transcribe.py).
struct CutWindow {
  std::vector<TranscriptSegment> segments = {};
  std::size_t advance = 0;    // frames from this window to the next one
  bool ends_in_time = false;  // the last token is a time that nothing follows: there is no more speech
};
// By transformers' rules the last segment keeps both times of a pair at the end (generation_whisper.py,
// _retrieve_segment).
CutWindow cut_window(const DecodedWindow& decoded, const WindowPlace& place, const WhisperTokens& tokens,
                     SpeechRules rules);

}  // namespace encdec
