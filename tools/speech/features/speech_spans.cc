#include "encdec/speech/features/speech_spans.h"

#include <algorithm>

#include "encdec/speech/features/voice_activity.h"

namespace encdec {
namespace {

constexpr std::int64_t kSamplesPerMs = 16, kMsPerSecond = 1000;
constexpr std::int64_t kWindow = VoiceActivity::kWindow;
constexpr std::int64_t kShortestCut =
    98 * kSamplesPerMs;  // minimum silence, in samples, at which long speech may be split

// Finds speech in one pass, with the conditions of faster-whisper's get_speech_timestamps().
// Order of calls: add* finish
// States:
// - Silence: is_speech_ is false.
// - Speech since start_: is_speech_ is true. During a short silence within the speech, quiet_since_ is set.
class SpanFinder {
 public:
  explicit SpanFinder(const VoiceActivityOptions& options)
      : threshold_(static_cast<float>(options.threshold)),
        silence_(static_cast<float>(options.neg_threshold.value_or(std::max(options.threshold - 0.15, 0.01)))),
        shortest_(options.min_speech_duration_ms * kSamplesPerMs),
        longest_(kMsPerSecond * kSamplesPerMs * options.max_speech_duration_s - kWindow -
                 static_cast<double>(2 * kSamplesPerMs * options.speech_pad_ms)),
        pause_(options.min_silence_duration_ms * kSamplesPerMs) {}

  // Processes the next window, which has speech with the given probability.
  void add(float probability) {
    const std::int64_t now = kWindow * window_++;
    if (probability >= threshold_) {
      if (quiet_since_ != 0 && next_start_ < cut_) next_start_ = now;
      quiet_since_ = 0;
      if (!is_speech_) {
        is_speech_ = true;
        start_ = now;
        return;
      }
    }
    if (is_speech_ && static_cast<double>(now - start_) > longest_ && split(now)) return;
    if (is_speech_ && probability < silence_) add_silence(now);
  }

  std::vector<SpeechSpan> finish(std::int64_t samples) {
    if (is_speech_ && samples - start_ > shortest_) add_span(samples);
    return std::move(spans_);
  }

 private:
  void add_span(std::int64_t end) {
    spans_.push_back({static_cast<std::uint64_t>(start_), static_cast<std::uint64_t>(end)});
  }

  // Splits speech that is too long: at cut_ if it is set, else at `now`. Returns true if the window needs no more work.
  bool split(std::int64_t now) {
    const bool has_cut = cut_ != 0;
    add_span(has_cut ? cut_ : now);
    // If speech was found again after cut_, the next span has already begun.
    is_speech_ = has_cut && next_start_ >= cut_;
    start_ = next_start_;
    cut_ = next_start_ = quiet_since_ = 0;
    return !has_cut;
  }

  // Extends the current silence to `now`. If the silence is long enough, ends the speech.
  void add_silence(std::int64_t now) {
    if (quiet_since_ == 0) quiet_since_ = now;
    const std::int64_t quiet = now - quiet_since_;
    if (quiet > kShortestCut) cut_ = quiet_since_;
    if (quiet < pause_) return;
    if (quiet_since_ - start_ > shortest_) add_span(quiet_since_);
    is_speech_ = false;
    cut_ = next_start_ = quiet_since_ = 0;
  }

  float threshold_, silence_;  // probabilities
  // Lengths and positions are in samples.
  std::int64_t shortest_;
  double longest_;
  std::int64_t pause_;
  std::int64_t window_ = 0;  // index of the next window
  bool is_speech_ = false;
  std::int64_t start_ = 0;
  // The value 0 means unset.
  // - quiet_since_: start of the current silence within speech.
  // - cut_: start of the last silence at which speech may be split.
  // - next_start_: start of the speech after cut_.
  std::int64_t quiet_since_ = 0, cut_ = 0, next_start_ = 0;
  std::vector<SpeechSpan> spans_;
};

// Pads each span at both ends. If the silence between two spans is too short for both paddings, each gets half of it.
void widen(std::vector<SpeechSpan>& spans, std::uint64_t padding, std::uint64_t samples) {
  for (std::size_t i = 0; i < spans.size(); ++i) {
    SpeechSpan& span = spans[i];
    if (i == 0) span.start -= std::min(padding, span.start);
    if (i + 1 == spans.size()) {
      span.end = std::min(samples, span.end + padding);
    } else {
      const std::uint64_t silence = spans[i + 1].start - span.end;
      const std::uint64_t own = silence < 2 * padding ? silence / 2 : padding;
      span.end += own;
      spans[i + 1].start -= own;
    }
  }
}

}  // namespace

std::vector<SpeechSpan> speech_spans(std::span<const float> probabilities, std::uint64_t samples,
                                     const VoiceActivityOptions& options) {
  SpanFinder finder(options);
  for (const float probability : probabilities) finder.add(probability);
  std::vector<SpeechSpan> spans = finder.finish(static_cast<std::int64_t>(samples));
  widen(spans, static_cast<std::uint64_t>(options.speech_pad_ms * kSamplesPerMs), samples);
  return spans;
}

}  // namespace encdec
