#include "encdec/models/speech/features/speech_detector.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <utility>

namespace encdec {
namespace {

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
