#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "encdec/engine/base/weights.h"

namespace encdec {

// Silero VAD for 16 kHz (github.com/snakers4/silero-vad, MIT licence; silero_vad_16k.safetensors):
// magnitudes of a short-time Fourier transform, four convolutions, an LSTM and a sigmoid
// (tinygrad_model.py in that repository). Computes in float, in a fixed order. Thread-safe.
class VoiceActivity {
 public:
  static constexpr std::size_t kWindow = 512;  // number of samples per probability: 32 ms
  static constexpr std::size_t kContext = 64;  // number of samples of the previous window to read again
  static constexpr std::size_t kHidden = 128;

  // State of the LSTM between two windows.
  struct State {
    std::array<float, kHidden> hidden{}, cell{};
  };
  using Samples = std::span<const float, kContext + kWindow>;

  // Reads stft_conv.weight, conv{1,2,3,4}.{weight,bias}, lstm_cell.{weight,bias}_{ih,hh} and
  // final_conv.{weight,bias}. Throws WeightError if a tensor is missing or does not fit.
  explicit VoiceActivity(const WeightScope& weights);
  // Loads a safetensors file. Throws FileError and WeightError.
  static VoiceActivity load(const std::filesystem::path& file);

  // Returns the probability of speech in samples from -1 to 1, and updates `state`.
  float probability(Samples samples, State& state) const;

 private:
  // output[o] := bias[o] + sum over i of input[i] * weights[i, o].
  struct Matrix {
    void multiply(const float* input, float* output) const;

    std::vector<float> weights, bias;
  };
  static Matrix convolution(const WeightScope& weights, std::size_t channels, std::size_t outputs);

  Matrix transform_;                                                  // cosines, then sines
  Matrix convolution1_, convolution2_, convolution3_, convolution4_;  // kernel size 3
  Matrix gates_;  // from input and hidden state to the input, forget, cell and output gates
  Matrix final_;  // from hidden state to the logit of the probability
};

// Computes one probability of speech per VoiceActivity::kWindow samples. Results do not depend on chunk sizes.
// Order of calls: push* finish
class SpeechDetector {
 public:
  virtual ~SpeechDetector() = default;

  // Appends the probability of each window that is complete now.
  virtual void push(std::span<const float> samples, std::vector<float>& probabilities) = 0;
  // Pads an incomplete last window with silence and appends its probability.
  virtual void finish(std::vector<float>& probabilities) = 0;
};

// Returns a detector that runs `model`. If `model` is null, the detector compares the loudness of each window with
// the quietest window of the last three seconds. 12 dB more mean probability 0.5. Music and noise count as speech.
std::unique_ptr<SpeechDetector> make_speech_detector(std::shared_ptr<const VoiceActivity> model);

}  // namespace encdec
