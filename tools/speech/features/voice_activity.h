#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <memory>
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

// A detector of speech in one recording, piece by piece. Gives the probability of speech in each window of
// VoiceActivity::kWindow samples. Results do not depend on the sizes of the pieces.
// Order of calls: push* finish
class SpeechDetector {
 public:
  virtual ~SpeechDetector() = default;

  // Adds samples, and appends the probability of each window that is complete now.
  virtual void push(std::span<const float> samples, std::vector<float>& probabilities) = 0;
  // Pads an incomplete last window with silence and appends its probability.
  virtual void finish(std::vector<float>& probabilities) = 0;
};

// Returns a detector that uses a model or, if `model` is null, compares the loudness of each window with the
// quietest window of the last three seconds: a difference of 12 dB is a probability of 0.5. Without a model, music
// and sudden noise count as speech.
std::unique_ptr<SpeechDetector> make_speech_detector(std::shared_ptr<const VoiceActivity> model);

}  // namespace encdec
