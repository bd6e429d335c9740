#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace encdec {

// The log-mel frames that Whisper reads, of a recording of 16 kHz (openai/whisper audio.py, transformers
// WhisperFeatureExtractor). Computed in double, piece by piece; results do not depend on the sizes of the pieces.
// - Frames: 400 samples in a Hann window, 160 samples apart. The first frame is centred on the first sample. Beyond
//   both ends the recording is mirrored.
// - Bands: triangles of equal area and of equal width in mel, by Slaney's scale from 0 to 8,000 Hz.
// - Values: log10 of the energy in each band.
// Order of calls: push* finish
class LogMel {
 public:
  static constexpr std::size_t kFrameSamples = 400;
  static constexpr std::size_t kHop = 160;
  static constexpr double kFramesPerSecond = 100;
  static constexpr std::size_t kFrequencies = kFrameSamples / 2 + 1;

  // `bands` is 80, for large-v3 128.
  explicit LogMel(int bands);

  std::size_t bands() const { return bands_.size(); }

  // Adds samples, and appends to `features` the frames [bands] that are complete now.
  void push(std::span<const float> samples, std::vector<float>& features);
  // Appends the remaining frames. The total is (number of samples) / 160, rounded down.
  void finish(std::vector<float>& features);

  // Changes features in place to the values that models are trained on: x := (max(x, largest - 8) + 4) / 4.
  // REQUIRES: `largest` is the largest value of the whole recording.
  static void normalize(std::span<float> features, float largest);

 private:
  // Weights of the frequencies [first, first + weights.size()).
  struct Band {
    std::size_t first = 0;
    std::vector<double> weights;
  };
  void write(std::uint64_t last, std::vector<float>& features);

  std::vector<Band> bands_;
  std::vector<double> window_;  // [kFrameSamples]
  std::vector<float> samples_;  // samples for later frames, mirrored ones included
  std::uint64_t first_ = 0;     // number of samples_[0], counted from the first mirrored sample
  std::uint64_t read_ = 0;      // number of samples pushed
  std::uint64_t written_ = 0;   // number of frames appended
};

}  // namespace encdec
