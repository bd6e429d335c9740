#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "encdec/speech/features/voice_activity.h"

namespace encdec {

// The names and defaults are the same as in OpenAI's server_vad.
struct UtteranceOptions {
  double threshold = 0.5;         // speech begins at this probability, and ends below threshold - 0.15
  int prefix_padding_ms = 300;    // audio to include before the speech
  int silence_duration_ms = 500;  // silence that ends an utterance; half of it is included
  double max_utterance_s = 28;    // longer utterances are split
};

// Finds utterances in a stream of samples. Events depend on the samples so far, not on chunk sizes.
// - Three consecutive windows (VoiceActivity::kWindow) with speech begin an utterance.
// - An utterance longer than max_utterance_s is split in the window with the lowest probability of
//   speech, among its last 10 s or its last half, whichever is shorter.
// Order of calls: (push | end_utterance)* finish
class UtteranceFinder {
 public:
  struct Event {
    enum class Kind : std::uint8_t {
      began,  // `sample` is the first sample of an utterance
      quiet,  // half of the silence has passed; the utterance ends before `sample` unless speech follows
      ended,  // the utterance ended before `sample`
    };
    Kind kind = Kind::began;
    std::uint64_t sample = 0;
    friend bool operator==(const Event& a, const Event& b) = default;
  };

  // REQUIRES: the options are in the ranges of live_settings().
  UtteranceFinder(const UtteranceOptions& options, std::unique_ptr<SpeechDetector> detector);

  // Processes samples. Appends their events.
  void push(std::span<const float> samples, std::vector<Event>& events);
  // Ends the current utterance, if any, at the last sample so far. The next utterance may begin at this sample.
  void end_utterance(std::vector<Event>& events);
  void finish(std::vector<Event>& events);

  // Returns the earliest sample at which the current or the next utterance can begin.
  std::uint64_t earliest() const;
  // Returns the end of the speech in the current utterance: the start of the current silence, if any.
  std::uint64_t speech_end() const { return quiet_since_ != 0 ? quiet_since_ : window_; }
  // Returns true if the last event is `quiet` and no speech has followed.
  bool is_quiet() const { return is_quiet_; }

 private:
  void add(float probability, std::vector<Event>& events);
  void end_at(std::uint64_t sample, std::vector<Event>& events);
  void cut(std::uint64_t now, std::vector<Event>& events);

  UtteranceOptions options_;
  std::unique_ptr<SpeechDetector> detector_;
  std::uint64_t padding_, silence_, longest_;  // in samples
  std::vector<float> probabilities_;
  std::uint64_t samples_ = 0;      // number of samples so far
  std::uint64_t window_ = 0;       // first sample of the next window
  std::uint64_t free_from_ = 0;    // end of the previous utterance
  std::uint64_t run_ = 0;          // number of consecutive windows with speech, between utterances
  bool is_speaking_ = false;       // whether an utterance has begun
  std::uint64_t start_ = 0;        // first sample of the utterance
  std::uint64_t quiet_since_ = 0;  // first sample of the current silence in the utterance; 0: no silence
  bool is_quiet_ = false;          // whether `quiet` was reported
  std::vector<float> last_;        // probabilities of the windows in the utterance
  std::uint64_t last_begin_ = 0;   // first sample of the window of last_[0]
};

}  // namespace encdec
