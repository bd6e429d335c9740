#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace encdec {

// One channel of sound at another rate, piece by piece, through the filter that is libswresample's (FFmpeg) own choice,
// so that models hear what they were trained on and what other programs give them: a sinc within a Kaiser window of
// beta 9 (Kaiser 1974), 16 zeros of it to each side, that lets half of the amplitude at 0.97 of the smaller rate's half
// pass. Sample n of the output is the sound at n / to_rate; before its beginning and behind its end it is mirrored.
// Results do not depend on the sizes of the pieces.
class Resampler {
 public:
  Resampler(int from_rate, int to_rate);

  // Appends to `output` what these samples make certain.
  void push(std::span<const float> input, std::vector<float>& output);
  // The rest: no sample comes behind. Together ceil(inputs * to_rate / from_rate) samples.
  void finish(std::vector<float>& output);

 private:
  void begin();
  void write(std::uint64_t last, std::vector<float>& output);
  float at(std::uint64_t number) const;

  std::uint64_t from_ = 1, to_ = 1;  // rates, without what divides both
  std::size_t taps_ = 0;             // inputs that have a part in an output
  std::size_t before_ = 0;           // as many of them before the input at its place or just before it
  std::size_t phases_ = 1;
  std::vector<float> weights_;  // [phases_ + 1, taps_]: places of an output between two inputs
  std::vector<float> input_;    // that is still needed
  std::uint64_t first_ = 0;     // number of the first of these, counted from `before_` mirrored ones
  std::uint64_t read_ = 0;      // inputs
  std::uint64_t written_ = 0;   // outputs
};

}  // namespace encdec
