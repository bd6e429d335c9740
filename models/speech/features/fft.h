#pragma once

#include <complex>
#include <cstddef>
#include <span>
#include <vector>

namespace encdec {

// Discrete Fourier transforms of real signals, several side by side, in double: of any even size whose half has small
// factors (Cooley and Tukey 1965, Stockham's order).
class RealFft {
 public:
  // That one call transforms.
  static constexpr std::size_t kSignals = 8;

  explicit RealFft(std::size_t size);

  // `signals` is [size, kSignals]; `powers`, [size / 2 + 1, kSignals], gets |X|^2 of each frequency.
  void powers(std::span<const double> signals, std::span<double> powers);

 private:
  using Complex = std::complex<double>;
  struct Pass {
    std::size_t radix = 1;
    std::size_t groups = 1;         // transforms that are joined to larger ones
    std::size_t stride = 1;         // values of each that are done
    std::vector<Complex> twiddles;  // [stride, radix]
  };
  void run(const Pass& pass);

  std::size_t half_;
  std::vector<Pass> passes_;
  std::vector<Complex> ends_;             // [half_ / 2 + 1]: turns from the half to the whole
  std::vector<double> real_, imaginary_;  // [half_, kSignals]
  std::vector<double> next_real_, next_imaginary_;
};

}  // namespace encdec
