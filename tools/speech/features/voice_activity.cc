#include "encdec/speech/features/voice_activity.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <string_view>
#include <utility>

#include "encdec/models/checkpoint/safetensors.h"

namespace encdec {
namespace {

// Sizes of the model Silero VAD for 16 kHz.
constexpr std::size_t kFrame = 256, kHop = 128;  // samples per transform, and from one transform to the next
constexpr std::size_t kFrequencies = kFrame / 2 + 1;
constexpr std::size_t kMirroredEnd = 64;          // number of samples appended to a window
constexpr std::size_t kWide = 128, kNarrow = 64;  // numbers of channels
constexpr std::size_t kTaps = 3;                  // kernel size of the convolutions
constexpr std::size_t kSummed = 8;  // number of products that are added up before they are added to the output
constexpr std::size_t kPaddedSamples = VoiceActivity::kContext + VoiceActivity::kWindow + kMirroredEnd;
constexpr std::size_t kFrames = (kPaddedSamples - kFrame) / kHop + 1;  // 4; the convolutions reduce them to 2, then 1

std::vector<float> vector_of(const WeightScope& weights, std::string_view name, std::size_t size) {
  const Tensor tensor = weights.tensor(name, {static_cast<Dim>(size)});
  return {tensor.data<float>(), tensor.data<float>() + size};
}

// Returns a weight, stored as [outputs, channels, taps], transposed to [taps, channels, outputs].
std::vector<float> turned(const WeightScope& weights, std::string_view name, std::size_t outputs, std::size_t channels,
                          std::size_t taps = 1) {
  Shape shape = {static_cast<Dim>(outputs), static_cast<Dim>(channels)};
  if (taps > 1) shape = {static_cast<Dim>(outputs), static_cast<Dim>(channels), static_cast<Dim>(taps)};
  const Tensor tensor = weights.tensor(name, shape);
  std::vector<float> values(outputs * channels * taps);
  const float* from = tensor.data<float>();
  for (std::size_t o = 0; o < outputs; ++o) {
    for (std::size_t c = 0; c < channels; ++c) {
      for (std::size_t tap = 0; tap < taps; ++tap) values[(tap * channels + c) * outputs + o] = *from++;
    }
  }
  return values;
}

float sigmoid(float x) {
  return 1 / (1 + std::exp(-x));
}

// Activations [steps, channels], with one more step of zeros at each end.
template <std::size_t steps, std::size_t channels>
class Padded {
 public:
  float* step(std::size_t index) { return values_.data() + (index + 1) * channels; }
  // Returns the kTaps steps from index - 1 to index + 1.
  const float* around(std::size_t index) const { return values_.data() + index * channels; }
  void rectify() {
    for (float& x : values_) x = std::max(x, 0.0F);
  }

 private:
  std::array<float, (steps + 2) * channels> values_{};
};

// Returns the samples, then the kMirroredEnd samples before the last sample, in reverse order.
std::array<float, kPaddedSamples> with_mirrored_end(VoiceActivity::Samples samples) {
  std::array<float, kPaddedSamples> padded;
  std::copy(samples.begin(), samples.end(), padded.begin());
  std::copy_n(samples.rbegin() + 1, kMirroredEnd, padded.begin() + samples.size());
  return padded;
}

// Runs the model on each window, preceded by the last kContext samples of the previous window.
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

// Compares the loudness with the quietest recent window. Decibels are relative to a full-scale square wave.
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
  static constexpr std::size_t kHistory = 94;  // number of windows: three seconds
  // In dB: minimum loudness, maximum initial background, difference with probability 0.5, difference per logit.
  static constexpr double kQuietest = -60, kLoudestStart = -45, kDifference = 12, kSlope = 3;

  // Ends the current window. Returns the probability of speech in the window.
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
  std::size_t count_ = 0;  // samples in the current window
  std::deque<double> history_;
};

}  // namespace

void VoiceActivity::Matrix::multiply(const float* input, float* output) const {
  const std::size_t outputs = bias.size(), inputs = weights.size() / outputs;
  std::copy(bias.begin(), bias.end(), output);
  const float* row = weights.data();
  std::size_t i = 0;
  // Add up kSummed products pairwise, which is more accurate than adding each product to the output.
  for (; i + kSummed <= inputs; i += kSummed, row += kSummed * outputs) {
    std::array<float, kSummed> x;
    std::copy_n(input + i, kSummed, x.begin());
    for (std::size_t o = 0; o < outputs; ++o) {
      const float* w = row + o;
      const float four = (x[0] * w[0] + x[1] * w[outputs]) + (x[2] * w[2 * outputs] + x[3] * w[3 * outputs]);
      const float* v = w + 4 * outputs;
      const float more = (x[4] * v[0] + x[5] * v[outputs]) + (x[6] * v[2 * outputs] + x[7] * v[3 * outputs]);
      output[o] += four + more;
    }
  }
  for (; i < inputs; ++i, row += outputs) {
    for (std::size_t o = 0; o < outputs; ++o) output[o] += input[i] * row[o];
  }
}

VoiceActivity::Matrix VoiceActivity::convolution(const WeightScope& weights, std::size_t channels,
                                                 std::size_t outputs) {
  return {turned(weights, "weight", outputs, channels, kTaps), vector_of(weights, "bias", outputs)};
}

VoiceActivity::VoiceActivity(const WeightScope& weights)
    : transform_{turned(weights / "stft_conv", "weight", 2 * kFrequencies, 1, kFrame),
                 std::vector<float>(2 * kFrequencies)},
      convolution1_(convolution(weights / "conv1", kFrequencies, kWide)),
      convolution2_(convolution(weights / "conv2", kWide, kNarrow)),
      convolution3_(convolution(weights / "conv3", kNarrow, kNarrow)),
      convolution4_(convolution(weights / "conv4", kNarrow, kWide)),
      final_{turned(weights / "final_conv", "weight", 1, kHidden), vector_of(weights / "final_conv", "bias", 1)} {
  const WeightScope cell = weights / "lstm_cell";
  gates_ = {turned(cell, "weight_ih", 4 * kHidden, kWide), vector_of(cell, "bias_ih", 4 * kHidden)};
  const std::vector<float> of_hidden = turned(cell, "weight_hh", 4 * kHidden, kHidden);
  gates_.weights.insert(gates_.weights.end(), of_hidden.begin(), of_hidden.end());
  const std::vector<float> more = vector_of(cell, "bias_hh", 4 * kHidden);
  for (std::size_t o = 0; o < more.size(); ++o) gates_.bias[o] += more[o];
}

VoiceActivity VoiceActivity::load(const std::filesystem::path& file) {
  return VoiceActivity(WeightScope(read_safetensors(file)));
}

float VoiceActivity::probability(Samples samples, State& state) const {
  // Compute the magnitudes of the Fourier transforms: [4, 129].
  const std::array<float, kPaddedSamples> padded = with_mirrored_end(samples);
  Padded<kFrames, kFrequencies> magnitudes;
  for (std::size_t frame = 0; frame < kFrames; ++frame) {
    std::array<float, 2 * kFrequencies> parts;
    transform_.multiply(padded.data() + frame * kHop, parts.data());
    for (std::size_t k = 0; k < kFrequencies; ++k) {
      const float re = parts[k], im = parts[kFrequencies + k];
      magnitudes.step(frame)[k] = std::sqrt(re * re + im * im);
    }
  }
  // Apply the convolutions, with outputs [4, 128], [2, 64], [1, 64] and [1, 128].
  Padded<kFrames, kWide> first;
  for (std::size_t i = 0; i < kFrames; ++i) convolution1_.multiply(magnitudes.around(i), first.step(i));
  first.rectify();
  Padded<kFrames / 2, kNarrow> second;
  for (std::size_t i = 0; i < kFrames / 2; ++i) convolution2_.multiply(first.around(2 * i), second.step(i));
  second.rectify();
  Padded<1, kNarrow> third;
  convolution3_.multiply(second.around(0), third.step(0));
  third.rectify();
  std::array<float, kWide + kHidden> input;
  convolution4_.multiply(third.around(0), input.data());
  for (std::size_t i = 0; i < kWide; ++i) input[i] = std::max(input[i], 0.0F);

  // Run one step of the LSTM.
  std::copy(state.hidden.begin(), state.hidden.end(), input.begin() + kWide);
  std::array<float, 4 * kHidden> gates;
  gates_.multiply(input.data(), gates.data());
  std::array<float, kHidden> spoken;
  for (std::size_t i = 0; i < kHidden; ++i) {
    const float in = sigmoid(gates[i]), keep = sigmoid(gates[kHidden + i]);
    const float cell = std::tanh(gates[2 * kHidden + i]), out = sigmoid(gates[3 * kHidden + i]);
    state.cell[i] = keep * state.cell[i] + in * cell;
    state.hidden[i] = out * std::tanh(state.cell[i]);
    spoken[i] = std::max(state.hidden[i], 0.0F);
  }
  float result = 0;
  final_.multiply(spoken.data(), &result);
  return sigmoid(result);
}

std::unique_ptr<SpeechDetector> make_speech_detector(std::shared_ptr<const VoiceActivity> model) {
  if (model == nullptr) return std::make_unique<LoudnessDetector>();
  return std::make_unique<VoiceActivityDetector>(std::move(model));
}

}  // namespace encdec
