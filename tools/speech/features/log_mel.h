#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace encdec {

// Computes Whisper's log-mel frames of a 16 kHz recording (openai/whisper audio.py), in double,
// chunk by chunk. Results do not depend on the chunk sizes.
// - Frames: 400 samples in a Hann window, 160 samples apart. The first frame is centred on the
//   first sample. Beyond both ends the recording is mirrored.
// - Bands: triangles of equal area and of equal width on Slaney's mel scale, up to 8,000 Hz.
// - Values: log10 of the energy in each band.
// Order of calls: push* finish
class LogMel {
 public:
  static constexpr std::size_t kFrameSamples = 400;
  static constexpr std::size_t kHop = 160;
  static constexpr double kFramesPerSecond = 100;
  static constexpr std::size_t kFrequencies = kFrameSamples / 2 + 1;

  // `bands` is 80, or 128 for large-v3.
  explicit LogMel(int bands);

  std::size_t bands() const { return bands_.size(); }

  // Appends all frames [bands] that can be computed now.
  void push(std::span<const float> samples, std::vector<float>& features);
  // Appends the remaining frames. The total is (number of samples) / 160, rounded down.
  void finish(std::vector<float>& features);

  // Normalises features in place: x := (max(x, largest - 8) + 4) / 4, where `largest` is the
  // largest value of the whole recording.
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
  std::vector<float> samples_;  // samples for later frames, including mirrored ones
  std::uint64_t first_ = 0;     // index of samples_[0], counted from the first mirrored sample
  std::uint64_t read_ = 0;      // number of samples pushed
  std::uint64_t written_ = 0;   // number of frames appended
};

}  // namespace encdec
