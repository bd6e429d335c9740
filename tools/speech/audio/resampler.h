#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace encdec {

// Converts one channel to another sample rate, chunk by chunk. Results do not depend on the chunk
// sizes. The filter is the default of libswresample (FFmpeg), as in the models' training:
// - A sinc with 16 zero crossings on each side, in a Kaiser window of beta 9 (Kaiser 1974).
// - Cutoff frequency, at half of the amplitude: 0.97 * min(from_rate, to_rate) / 2.
// - Output sample n is the signal at time n / to_rate. Beyond both ends the signal is mirrored.
// Order of calls: push* finish
class Resampler {
 public:
  Resampler(int from_rate, int to_rate);

  // Appends all output samples that can be computed now.
  void push(std::span<const float> input, std::vector<float>& output);
  // Appends the remaining output samples. The total is ceil(inputs * to_rate / from_rate).
  void finish(std::vector<float>& output);

 private:
  void begin();
  void write(std::uint64_t last, std::vector<float>& output);
  float sample_at(std::uint64_t number) const;

  std::uint64_t from_ = 1, to_ = 1;  // rates divided by their greatest common divisor
  std::size_t taps_ = 0;             // number of inputs per output
  std::size_t before_ = 0;           // index of the tap at or just before the output's time
  std::size_t phases_ = 1;           // number of rows of weights_ between two inputs
  std::vector<float> weights_;       // [phases_ + 1, taps_]
  std::vector<float> input_;         // inputs for later outputs
  std::uint64_t first_ = 0;          // index of input_[0], counted from the first mirrored input
  std::uint64_t read_ = 0;           // number of inputs pushed
  std::uint64_t written_ = 0;        // number of outputs appended
};

}  // namespace encdec
