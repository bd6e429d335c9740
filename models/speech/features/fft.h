#pragma once

#include <complex>
#include <cstddef>
#include <span>
#include <vector>

namespace encdec {

// A discrete Fourier transform of several real signals at once, in double (Cooley and Tukey 1965, Stockham's order).
class RealFft {
 public:
  // Number of signals that one call transforms.
  static constexpr std::size_t kSignals = 8;

  // REQUIRES: `size` is even, and size / 2 has no prime factors other than 2, 3 and 5.
  explicit RealFft(std::size_t size);

  // Computes powers[k] := |X[k]|^2 for signals [size, kSignals] and powers [size / 2 + 1, kSignals].
  void powers(std::span<const double> signals, std::span<double> powers);

 private:
  using Complex = std::complex<double>;
  // A pass joins groups * radix transforms of `stride` values to `groups` transforms of stride * radix values.
  struct Pass {
    std::size_t radix = 1;
    std::size_t groups = 1;
    std::size_t stride = 1;
    std::vector<Complex> twiddles;  // [stride, radix]
  };
  void run(const Pass& pass);

  std::size_t half_;
  std::vector<Pass> passes_;
  std::vector<Complex> ends_;  // [half_ + 1]: twiddles of the step from half_ complex to 2 * half_ real values
  std::vector<double> real_, imaginary_;  // [half_, kSignals]
  std::vector<double> next_real_, next_imaginary_;
};

}  // namespace encdec
