#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "encdec/engine/base/weights.h"

namespace encdec {

// Whether someone speaks: Silero VAD for 16 kHz (github.com/snakers4/silero-vad, MIT), whose publisher ships its
// weights as silero_vad_16k.safetensors. Magnitudes of a short-time Fourier transform, four convolutions, a long
// short-term memory and a sigmoid (its tinygrad_model.py); computed in float, sums always in the same order. Read-only,
// so that many detectors share one.
class VoiceActivity {
 public:
  static constexpr std::size_t kWindow = 512;  // samples that get one probability: 32 ms
  static constexpr std::size_t kContext = 64;  // samples before them that are heard again
  static constexpr std::size_t kHidden = 128;

  // What goes from window to window.
  struct State {
    std::array<float, kHidden> hidden{}, cell{};
  };
  using Samples = std::span<const float, kContext + kWindow>;

  // Takes stft_conv.weight, conv{1,2,3,4}.{weight,bias}, lstm_cell.{weight,bias}_{ih,hh} and final_conv.{weight,bias}.
  // Throws WeightError, naming the tensor, if one is missing or does not fit.
  explicit VoiceActivity(const WeightScope& weights);
  // Of a file in the safetensors format. Throws FileError and WeightError.
  static VoiceActivity load(const std::filesystem::path& file);

  // From 0 to 1, of samples from -1 to 1.
  float probability(Samples samples, State& state) const;

 private:
  // output[o] = bias[o] + the sum of input[i] * weights[i, o].
  struct Matrix {
    void multiply(const float* input, float* output) const;

    std::vector<float> weights, bias;
  };
  static Matrix convolution(const WeightScope& weights, std::size_t channels, std::size_t outputs);

  Matrix transform_;                                                  // cosines, then sines
  Matrix convolution1_, convolution2_, convolution3_, convolution4_;  // of three steps, one after another
  Matrix gates_;  // of what comes in and the hidden state: input, forget, cell and output
  Matrix final_;
};

// The probabilities of one recording, piece by piece. They do not depend on the sizes of the pieces.
class VoiceActivityDetector {
 public:
  explicit VoiceActivityDetector(std::shared_ptr<const VoiceActivity> model) : model_(std::move(model)) {}

  // Appends the probability of each window that these samples fill.
  void push(std::span<const float> samples, std::vector<float>& probabilities);
  // That of the rest, if there is one: silence comes behind it.
  void finish(std::vector<float>& probabilities);

 private:
  std::shared_ptr<const VoiceActivity> model_;
  VoiceActivity::State state_;
  std::array<float, VoiceActivity::kContext + VoiceActivity::kWindow> samples_{};
  std::size_t filled_ = VoiceActivity::kContext;  // of samples_
};

}  // namespace encdec
