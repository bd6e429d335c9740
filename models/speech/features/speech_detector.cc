#include "encdec/models/speech/features/speech_detector.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <utility>

namespace encdec {
namespace {

class VoiceActivityDetector final : public SpeechDetector {
 public:
  explicit VoiceActivityDetector(std::shared_ptr<const VoiceActivity> model) : model_(std::move(model)) {}

  void push(std::span<const float> samples, std::vector<float>& probabilities) override {
    while (!samples.empty()) {
      const std::size_t count = std::min(samples.size(), samples_.size() - filled_);
      std::copy_n(samples.begin(), count, samples_.begin() + static_cast<std::ptrdiff_t>(filled_));
      samples = samples.subspan(count);
      filled_ += count;
      if (filled_ < samples_.size()) return;
      probabilities.push_back(model_->probability(samples_, state_));
      std::copy(samples_.end() - VoiceActivity::kContext, samples_.end(), samples_.begin());
      filled_ = VoiceActivity::kContext;
    }
  }
  void finish(std::vector<float>& probabilities) override {
    if (filled_ == VoiceActivity::kContext) return;
    push(std::vector<float>(samples_.size() - filled_), probabilities);
  }

 private:
  std::shared_ptr<const VoiceActivity> model_;
  VoiceActivity::State state_;
  std::array<float, VoiceActivity::kContext + VoiceActivity::kWindow> samples_{};
  std::size_t filled_ = VoiceActivity::kContext;  // number of samples in samples_
};

// Loudness in decibels, 0 for a full-scale square wave.
class LoudnessDetector final : public SpeechDetector {
 public:
  void push(std::span<const float> samples, std::vector<float>& probabilities) override {
    for (const float sample : samples) {
      energy_ += double{sample} * double{sample};
      if (++count_ == VoiceActivity::kWindow) probabilities.push_back(end_window());
    }
  }
  void finish(std::vector<float>& probabilities) override {
    if (count_ > 0) probabilities.push_back(end_window());
  }

 private:
  static constexpr std::size_t kHistory = 94;  // windows of 32 ms: three seconds
  static constexpr double kQuietest = -60, kLoudestStart = -45, kDifference = 12, kSlope = 3;

  float end_window() {
    const double mean = energy_ / VoiceActivity::kWindow;
    const double loudness = std::max(10 * std::log10(std::max(mean, 1e-12)), kQuietest);
    energy_ = 0;
    count_ = 0;
    if (history_.empty()) history_.assign(kHistory, std::min(loudness, kLoudestStart));
    const double floor = *std::ranges::min_element(history_);
    history_.pop_front();
    history_.push_back(loudness);
    return static_cast<float>(1 / (1 + std::exp(-(loudness - floor - kDifference) / kSlope)));
  }

  double energy_ = 0;      // sum of squares in the current window
  std::size_t count_ = 0;  // number of its samples
  std::deque<double> history_;
};

}  // namespace

std::unique_ptr<SpeechDetector> make_speech_detector(std::shared_ptr<const VoiceActivity> model) {
  if (model == nullptr) return std::make_unique<LoudnessDetector>();
  return std::make_unique<VoiceActivityDetector>(std::move(model));
}

}  // namespace encdec
