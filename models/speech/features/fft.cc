#include "encdec/models/speech/features/fft.h"

#include <array>
#include <cassert>
#include <cmath>
#include <numbers>
#include <utility>

namespace encdec {
namespace {

constexpr std::size_t kLanes = RealFft::kSignals;
constexpr std::size_t kLargestRadix = 5;

std::complex<double> root(std::size_t numerator, std::size_t denominator) {
  const double angle =
      -2 * std::numbers::pi * static_cast<double>(numerator % denominator) / static_cast<double>(denominator);
  return {std::cos(angle), std::sin(angle)};
}

}  // namespace

RealFft::RealFft(std::size_t size) : half_(size / 2) {
  std::size_t rest = half_, stride = 1;
  while (rest > 1) {
    std::size_t radix = kLargestRadix;
    while (rest % radix != 0) --radix;
    assert(radix > 1);
    rest /= radix;
    Pass pass{.radix = radix, .groups = rest, .stride = stride, .twiddles = {}};
    for (std::size_t i = 0; i < stride; ++i) {
      for (std::size_t part = 0; part < radix; ++part) pass.twiddles.push_back(root(i * part, stride * radix));
    }
    passes_.push_back(std::move(pass));
    stride *= radix;
  }
  for (std::size_t k = 0; k <= half_; ++k) ends_.push_back(root(k, size));
  for (auto* values : {&real_, &imaginary_, &next_real_, &next_imaginary_}) values->resize(half_ * kLanes);
}

// Joins each `radix` transforms to a larger one: their values i, multiplied by twiddles, are transformed to the values
// i, i + stride, i + 2 * stride, ... of the larger one.
void RealFft::run(const Pass& pass) {
  std::array<std::array<double, kLanes>, kLargestRadix> real, imaginary;
  std::array<Complex, kLargestRadix> roots;
  for (std::size_t part = 0; part < pass.radix; ++part) roots[part] = root(part, pass.radix);
  for (std::size_t group = 0; group < pass.groups; ++group) {
    for (std::size_t i = 0; i < pass.stride; ++i) {
      for (std::size_t part = 0; part < pass.radix; ++part) {
        const Complex turn = pass.twiddles[i * pass.radix + part];
        const std::size_t from = ((part * pass.groups + group) * pass.stride + i) * kLanes;
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
          const double re = real_[from + lane], im = imaginary_[from + lane];
          real[part][lane] = re * turn.real() - im * turn.imag();
          imaginary[part][lane] = re * turn.imag() + im * turn.real();
        }
      }
      for (std::size_t k = 0; k < pass.radix; ++k) {
        const std::size_t to = ((group * pass.radix + k) * pass.stride + i) * kLanes;
        std::array<double, kLanes> re = real[0], im = imaginary[0];
        for (std::size_t part = 1; part < pass.radix; ++part) {
          const Complex turn = roots[part * k % pass.radix];
          for (std::size_t lane = 0; lane < kLanes; ++lane) {
            re[lane] += real[part][lane] * turn.real() - imaginary[part][lane] * turn.imag();
            im[lane] += real[part][lane] * turn.imag() + imaginary[part][lane] * turn.real();
          }
        }
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
          next_real_[to + lane] = re[lane];
          next_imaginary_[to + lane] = im[lane];
        }
      }
    }
  }
  real_.swap(next_real_);
  imaginary_.swap(next_imaginary_);
}

void RealFft::powers(std::span<const double> signals, std::span<double> powers) {
  // Packs the even samples as real parts and the odd ones as imaginary parts of a complex signal of half the size.
  for (std::size_t i = 0; i < half_; ++i) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      real_[i * kLanes + lane] = signals[2 * i * kLanes + lane];
      imaginary_[i * kLanes + lane] = signals[(2 * i + 1) * kLanes + lane];
    }
  }
  for (const Pass& pass : passes_) run(pass);
  for (std::size_t k = 0; k <= half_; ++k) {
    const std::size_t here = k % half_ * kLanes, mirrored = (half_ - k) % half_ * kLanes;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      // Separates the transforms of the even and of the odd samples.
      const double even_re = (real_[here + lane] + real_[mirrored + lane]) / 2;
      const double even_im = (imaginary_[here + lane] - imaginary_[mirrored + lane]) / 2;
      const double odd_re = (imaginary_[here + lane] + imaginary_[mirrored + lane]) / 2;
      const double odd_im = (real_[mirrored + lane] - real_[here + lane]) / 2;
      const double re = even_re + odd_re * ends_[k].real() - odd_im * ends_[k].imag();
      const double im = even_im + odd_re * ends_[k].imag() + odd_im * ends_[k].real();
      powers[k * kLanes + lane] = re * re + im * im;
    }
  }
}

}  // namespace encdec
