#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

#include "encdec/engine/base/weights.h"

namespace encdec {

// A voice activity model: Silero VAD for 16 kHz (github.com/snakers4/silero-vad, MIT), published as
// silero_vad_16k.safetensors. Consists of the magnitudes of a short-time Fourier transform, four convolutions, an LSTM
// and a sigmoid (tinygrad_model.py there). Computed in float, with all sums in a fixed order. Thread-safe, so that many
// detectors can share one.
class VoiceActivity {
 public:
  static constexpr std::size_t kWindow = 512;  // samples with one probability: 32 ms
  static constexpr std::size_t kContext = 64;  // samples of the previous window that are read again
  static constexpr std::size_t kHidden = 128;

  // State of the LSTM, carried from window to window.
  struct State {
    std::array<float, kHidden> hidden{}, cell{};
  };
  using Samples = std::span<const float, kContext + kWindow>;

  // Takes stft_conv.weight, conv{1,2,3,4}.{weight,bias}, lstm_cell.{weight,bias}_{ih,hh} and final_conv.{weight,bias}.
  // Throws WeightError, naming the tensor, if one is missing or does not fit.
  explicit VoiceActivity(const WeightScope& weights);
  // Loads a file in the safetensors format. Throws FileError and WeightError.
  static VoiceActivity load(const std::filesystem::path& file);

  // Returns the probability that a window contains speech, and updates `state`. REQUIRES: samples are from -1 to 1.
  float probability(Samples samples, State& state) const;

 private:
  // output[o] := bias[o] + sum over i of input[i] * weights[i, o].
  struct Matrix {
    void multiply(const float* input, float* output) const;

    std::vector<float> weights, bias;
  };
  static Matrix convolution(const WeightScope& weights, std::size_t channels, std::size_t outputs);

  Matrix transform_;                                                  // cosines, then sines
  Matrix convolution1_, convolution2_, convolution3_, convolution4_;  // each reads three consecutive steps
  Matrix gates_;  // from input and hidden state to the input, forget, cell and output gates
  Matrix final_;  // from hidden state to the logit of the probability
};

}  // namespace encdec
