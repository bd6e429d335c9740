#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace encdec {

// One channel of sound at another rate, piece by piece: a sinc within a Kaiser window (Kaiser 1974), 64 zeros of it to
// each side, that lets pass what is below 0.9 of the smaller rate's half and takes 100 dB from what it cannot keep.
// Sample n of the output is the sound at n / to_rate; before its beginning and behind its end there is silence. Results
// do not depend on the sizes of the pieces.
class Resampler {
 public:
  Resampler(int from_rate, int to_rate);

  // Appends to `output` what these samples make certain.
  void push(std::span<const float> input, std::vector<float>& output);
  // The rest: no sample comes behind. Together ceil(inputs * to_rate / from_rate) samples.
  void finish(std::vector<float>& output);

 private:
  void write(std::uint64_t last, std::vector<float>& output);
  float at(std::uint64_t number) const;

  std::uint64_t from_ = 1, to_ = 1;  // rates, without what divides both
  std::size_t half_ = 0;             // inputs on each side of an output that have a part in it
  std::size_t phases_ = 1;
  std::vector<float> weights_;  // [phases_ + 1, 2 * half_]: places of an output between two inputs
  std::vector<float> input_;    // that is still needed
  std::uint64_t first_ = 0;     // number of the first of these, counted from `half_` zeros before the beginning
  std::uint64_t read_ = 0;      // inputs
  std::uint64_t written_ = 0;   // outputs
};

}  // namespace encdec
