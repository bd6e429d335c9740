#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "encdec/models/speech/features/fft.h"

namespace encdec {

// What Whisper hears of a recording of 16 kHz, piece by piece: log10 of the energies of bands of equal width in mel
// (openai/whisper audio.py, transformers WhisperFeatureExtractor). Frames of 400 samples within a Hann window, 160
// apart, the first around the first sample; beyond the ends the recording is mirrored. Bands by Slaney's scale from 0
// to 8,000 Hz, each of the same area. Computed in double; results do not depend on the sizes of the pieces.
class LogMel {
 public:
  static constexpr std::size_t kFrameSamples = 400;
  static constexpr std::size_t kHop = 160;
  static constexpr double kFramesPerSecond = 100;
  static constexpr std::size_t kFrequencies = kFrameSamples / 2 + 1;

  // `bands`: 80, of large-v3 128.
  explicit LogMel(int bands);
  // With the bands that a checkpoint stores: [bands, kFrequencies].
  explicit LogMel(std::vector<float> filters);

  std::size_t bands() const { return bands_.size(); }

  // Appends frames, [bands] each, that these samples make certain.
  void push(std::span<const float> samples, std::vector<float>& features);
  // The rest: no sample comes behind. Together samples / 160 frames.
  void finish(std::vector<float>& features);

  // In place, to what models are trained on: nothing below `largest` - 8, then (x + 4) / 4. `largest` is that of the
  // whole recording.
  static void normalize(std::span<float> features, float largest);

 private:
  // Frequencies [first, first + weights) of a band.
  struct Band {
    std::size_t first = 0;
    std::vector<double> weights;
  };
  void write(std::uint64_t last, std::vector<float>& features);

  std::vector<Band> bands_;
  std::vector<double> window_;  // [kFrameSamples]
  RealFft fft_{kFrameSamples};
  std::vector<float> samples_;  // that are still needed, with the mirrored ones
  std::uint64_t first_ = 0;     // number of the first of these
  std::uint64_t read_ = 0;      // samples
  std::uint64_t written_ = 0;   // frames
};

}  // namespace encdec
