#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace encdec {

// A converter of one channel to another sample rate, piece by piece. Results do not depend on the sizes of the pieces.
// Uses the default filter of libswresample (FFmpeg), so that models get the same input as in training and in other
// programs:
// - A sinc with 16 zeros on each side, in a Kaiser window of beta 9 (Kaiser 1974).
// - Cutoff, where half of the amplitude passes: 0.97 * min(from_rate, to_rate) / 2.
// - Sample n of the output is the sound at n / to_rate. Beyond both ends the sound is mirrored.
// Order of calls: push* finish
class Resampler {
 public:
  Resampler(int from_rate, int to_rate);

  // Adds samples, and appends to `output` the output samples that are complete now.
  void push(std::span<const float> input, std::vector<float>& output);
  // Appends the remaining output samples. The total is ceil(inputs * to_rate / from_rate).
  void finish(std::vector<float>& output);

 private:
  void begin();
  void write(std::uint64_t last, std::vector<float>& output);
  float at(std::uint64_t number) const;

  std::uint64_t from_ = 1, to_ = 1;  // rates divided by their greatest common divisor
  std::size_t taps_ = 0;             // number of inputs for one output
  std::size_t before_ = 0;           // index, among these, of the last input at or before the output's time
  std::size_t phases_ = 1;           // number of output positions between two inputs in weights_
  std::vector<float> weights_;       // [phases_ + 1, taps_]
  std::vector<float> input_;         // inputs for later outputs
  std::uint64_t first_ = 0;          // number of input_[0], counted from the first mirrored input
  std::uint64_t read_ = 0;           // number of inputs pushed
  std::uint64_t written_ = 0;        // number of outputs appended
};

}  // namespace encdec
