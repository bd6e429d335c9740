#include "encdec/speech/features/utterance_finder.h"

#include <algorithm>
#include <utility>

namespace encdec {
namespace {

constexpr double kRate = 16'000;
constexpr std::uint64_t kMillisecond = 16;
constexpr std::uint64_t kWindowSamples = VoiceActivity::kWindow;
constexpr std::uint64_t kShortestRun = 3;  // number of windows with speech that begin an utterance
constexpr double kHysteresis = 0.15;       // silence begins at a probability below threshold - kHysteresis
constexpr double kCutRange = 10;           // a long utterance is split within its last kCutRange seconds

}  // namespace

UtteranceFinder::UtteranceFinder(const UtteranceOptions& options, std::unique_ptr<SpeechDetector> detector)
    : options_(options), detector_(std::move(detector)) {
  padding_ = kMillisecond * static_cast<std::uint64_t>(options.prefix_padding_ms);
  silence_ = kMillisecond * static_cast<std::uint64_t>(options.silence_duration_ms);
  longest_ = static_cast<std::uint64_t>(kRate * options.max_utterance_s);
}

void UtteranceFinder::push(std::span<const float> samples, std::vector<Event>& events) {
  samples_ += samples.size();
  probabilities_.clear();
  detector_->push(samples, probabilities_);
  for (const float probability : probabilities_) add(probability, events);
}

void UtteranceFinder::end_utterance(std::vector<Event>& events) {
  if (is_speaking_) end_at(samples_, events);
  free_from_ = samples_;
  run_ = 0;
}

void UtteranceFinder::finish(std::vector<Event>& events) {
  probabilities_.clear();
  detector_->finish(probabilities_);
  for (const float probability : probabilities_) add(probability, events);
  if (is_speaking_) end_at(is_quiet_ ? quiet_since_ + silence_ / 2 : samples_, events);
}

std::uint64_t UtteranceFinder::earliest() const {
  if (is_speaking_) return start_;
  const std::uint64_t before = run_ * kWindowSamples + padding_;
  return std::max(free_from_, window_ - std::min(window_, before));
}

// Processes the next window, which has speech with the given probability.
void UtteranceFinder::add(float probability, std::vector<Event>& events) {
  const auto p = static_cast<double>(probability);
  const std::uint64_t begin = window_;
  window_ += kWindowSamples;
  // Between utterances, count consecutive windows with speech.
  if (!is_speaking_) {
    run_ = p >= options_.threshold ? run_ + 1 : 0;
    if (run_ < kShortestRun) return;
    start_ = earliest();
    is_speaking_ = true;
    run_ = 0;
    last_begin_ = window_;
    events.push_back({Event::Kind::began, start_});
    return;
  }
  // In an utterance, speech ends the current silence, and a low probability of speech begins a silence.
  last_.push_back(probability);
  if (p >= options_.threshold) {
    quiet_since_ = 0;
    is_quiet_ = false;
  } else if (p < options_.threshold - kHysteresis && quiet_since_ == 0) {
    quiet_since_ = begin;
  }
  // Report `quiet` after half of the required silence. End the utterance after the whole required silence.
  const std::uint64_t now = std::min(window_, samples_);
  if (quiet_since_ != 0) {
    const std::uint64_t end = quiet_since_ + silence_ / 2;
    if (now >= quiet_since_ + silence_) return end_at(end, events);
    if (now >= end && !is_quiet_) {
      is_quiet_ = true;
      events.push_back({Event::Kind::quiet, end});
    }
  }
  if (now >= start_ + longest_) cut(now, events);
}

void UtteranceFinder::end_at(std::uint64_t sample, std::vector<Event>& events) {
  events.push_back({Event::Kind::ended, sample});
  is_speaking_ = is_quiet_ = false;
  free_from_ = sample;
  quiet_since_ = 0;
  last_.clear();
}

// Splits an utterance that is too long. `now` is the end of the last window.
void UtteranceFinder::cut(std::uint64_t now, std::vector<Event>& events) {
  if (quiet_since_ != 0) return end_at(std::min(quiet_since_ + silence_ / 2, now), events);
  // Find the window with the lowest probability of speech.
  const auto most =
      static_cast<std::size_t>(std::min(kCutRange, options_.max_utterance_s / 2) * kRate / kWindowSamples);
  const auto first = last_.end() - static_cast<std::ptrdiff_t>(std::min(most, last_.size()));
  const auto quietest = std::min_element(first, last_.end());
  const std::uint64_t behind = last_begin_ + kWindowSamples * static_cast<std::uint64_t>(quietest + 1 - last_.begin());
  // End the utterance in the middle of this window. The windows after it belong to the next utterance.
  std::vector<float> rest(quietest + 1, last_.end());
  end_at(std::min(behind - kWindowSamples / 2, now), events);
  is_speaking_ = true;
  start_ = free_from_;
  last_ = std::move(rest);
  last_begin_ = behind;
  events.push_back({Event::Kind::began, start_});
}

}  // namespace encdec
