#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "encdec/speech/features/voice_activity.h"

namespace encdec {

// Definition of an utterance. Names and defaults are those of OpenAI's server_vad.
struct UtteranceOptions {
  double threshold = 0.5;         // probability at which speech begins; it ends below this value less 0.15
  int prefix_padding_ms = 300;    // sound before the speech that belongs to the utterance
  int silence_duration_ms = 500;  // silence that ends an utterance; half of it belongs to the utterance
  double max_utterance_s = 28;    // a longer utterance is cut
};

// A finder of utterances in speech that goes on. It decides as the samples come, and what it decides depends on
// nothing but the samples before: not on the sizes of their pieces.
// - Three windows of VoiceActivity in a row with speech begin an utterance.
// - Speech that goes on for longer than max_utterance_s is cut in the middle of the window that has the least
// probability
//   of speech, among those of the last 10 s or the last half. The next utterance begins at the cut.
// Order of calls: (push | end_utterance)* finish
class UtteranceFinder {
 public:
  struct Event {
    enum class Kind : std::uint8_t {
      began,  // at `sample`, the first one of the utterance
      quiet,  // it ends before `sample`, unless speech goes on within the other half of the silence
      ended,  // before `sample`
    };
    Kind kind = Kind::began;
    std::uint64_t sample = 0;
    friend bool operator==(const Event& a, const Event& b) = default;
  };

  // REQUIRES: the options are in the ranges of live_settings().
  UtteranceFinder(const UtteranceOptions& options, std::unique_ptr<SpeechDetector> detector);

  // Adds samples, and appends what they decide.
  void push(std::span<const float> samples, std::vector<Event>& events);
  // Ends the current utterance, if there is one, at the last sample so far. Another utterance may begin right behind.
  void end_utterance(std::vector<Event>& events);
  // The samples are over.
  void finish(std::vector<Event>& events);

  // Returns the first sample that an utterance can begin with, given all samples so far.
  std::uint64_t earliest() const;
  // Returns the end of what is known to be speech in the current utterance.
  std::uint64_t speech_end() const { return quiet_since_ != 0 ? quiet_since_ : window_; }
  // Returns whether the last event is `quiet`, and speech has not gone on.
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
  std::uint64_t free_from_ = 0;    // end of the last utterance
  std::uint64_t run_ = 0;          // number of windows with speech in a row, before an utterance begins
  bool is_speaking_ = false;       // an utterance has begun and not ended
  std::uint64_t start_ = 0;        // first sample of the utterance
  std::uint64_t quiet_since_ = 0;  // first sample of the current silence in it; 0 for none
  bool is_quiet_ = false;          // `quiet` was reported for this silence
  std::vector<float> last_;        // probabilities of the utterance's windows
  std::uint64_t last_begin_ = 0;   // first sample of last_[0]
};

}  // namespace encdec
