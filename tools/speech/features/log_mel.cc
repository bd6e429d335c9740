#include "encdec/speech/features/log_mel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <kissfft/kissfft.hh>
#include <numbers>

namespace encdec {
namespace {

constexpr double kSampleRate = 16'000;
constexpr std::size_t kMirrored = LogMel::kFrameSamples / 2;  // samples mirrored at each end
// Slaney's mel scale (Auditory Toolbox 1998) is linear up to 1 kHz, and logarithmic above.
constexpr double kHertzOfMel = 200.0 / 3, kEvenMels = 15, kEvenHertz = 1000;
const double kLogStep = std::log(6.4) / 27;

double hertz_of(double mel) {
  return mel < kEvenMels ? mel * kHertzOfMel : kEvenHertz * std::exp(kLogStep * (mel - kEvenMels));
}

double mel_of(double hertz) {
  return hertz < kEvenHertz ? hertz / kHertzOfMel : kEvenMels + std::log(hertz / kEvenHertz) / kLogStep;
}

}  // namespace

LogMel::LogMel(int bands) {
  // Compute the bands: overlapping triangles of area 1, sampled at the frequencies of the Fourier transform.
  const auto edge = [bands](int number) { return hertz_of(mel_of(kSampleRate / 2) * number / (bands + 1)); };
  for (int i = 0; i < bands; ++i) {
    Band& band = bands_.emplace_back();
    const double low = edge(i), middle = edge(i + 1), high = edge(i + 2);
    for (std::size_t k = 0; k < kFrequencies; ++k) {
      const double hertz = static_cast<double>(k) * kSampleRate / kFrameSamples;
      const double side = std::min((hertz - low) / (middle - low), (high - hertz) / (high - middle));
      const auto weight = static_cast<float>(std::max(side, 0.0) * 2 / (high - low));
      if (weight == 0) continue;
      if (band.weights.empty()) band.first = k;
      band.weights.push_back(double{weight});
    }
  }
  // Compute the Hann window.
  for (std::size_t i = 0; i < kFrameSamples; ++i) {
    window_.push_back(0.5 - 0.5 * std::cos(2 * std::numbers::pi * static_cast<double>(i) / kFrameSamples));
  }
}

void LogMel::push(std::span<const float> samples, std::vector<float>& features) {
  const bool has_begun = read_ > kMirrored;
  read_ += samples.size();
  samples_.insert(samples_.end(), samples.begin(), samples.end());
  // Mirror the beginning as soon as there are enough samples.
  if (!has_begun && read_ > kMirrored) {
    const std::vector<float> mirrored(samples_.rend() - kMirrored - 1, samples_.rend() - 1);
    samples_.insert(samples_.begin(), mirrored.begin(), mirrored.end());
  }
  if (read_ <= kMirrored) return;
  const std::uint64_t known = first_ + samples_.size();
  // Write the frames whose last sample is known.
  if (known >= kFrameSamples) write((known - kFrameSamples) / kHop + 1, features);
}

void LogMel::finish(std::vector<float>& features) {
  if (read_ <= kMirrored) {  // too short to mirror: add silence at both ends
    samples_.insert(samples_.begin(), kMirrored, 0.0F);
    samples_.resize(samples_.size() + kMirrored);
  } else {
    const std::size_t size = samples_.size();
    for (std::size_t i = 0; i < kMirrored; ++i) samples_.push_back(samples_[size - 2 - i]);
  }
  write(read_ / kHop, features);
}

// Appends the frames with index < `last`, and drops samples that no later frame needs.
void LogMel::write(std::uint64_t last, std::vector<float>& features) {
  // transform_real() reads pairs of samples as complex numbers. All threads share the object, which is safe for this
  // size: kissfft writes to scratch memory in the object only for sizes with a prime factor above 5.
  static const kissfft<double> fft(kFrameSamples / 2, false);
  std::array<double, kFrameSamples> signal;
  std::array<std::complex<double>, kFrameSamples / 2> spectrum;
  std::array<double, kFrequencies> powers;
  for (; written_ < last; ++written_) {
    const float* samples = samples_.data() + (written_ * kHop - first_);
    for (std::size_t i = 0; i < kFrameSamples; ++i) signal[i] = samples[i] * window_[i];
    fft.transform_real(signal.data(), spectrum.data());
    for (std::size_t k = 1; k < spectrum.size(); ++k) powers[k] = std::norm(spectrum[k]);
    powers.front() = spectrum[0].real() * spectrum[0].real();  // the transform stores its two real values here
    powers.back() = spectrum[0].imag() * spectrum[0].imag();
    // Add up the energy in each band. The minimum, 1e-10, is the same in openai/whisper.
    for (const Band& band : bands_) {
      double energy = 0;
      for (std::size_t k = 0; k < band.weights.size(); ++k) energy += powers[band.first + k] * band.weights[k];
      features.push_back(static_cast<float>(std::log10(std::max(energy, 1e-10))));
    }
  }
  const auto gone = static_cast<std::size_t>(std::min<std::uint64_t>(written_ * kHop - first_, samples_.size()));
  constexpr std::size_t kWorthMoving = 1 << 14;
  if (gone < kWorthMoving) return;
  samples_.erase(samples_.begin(), samples_.begin() + static_cast<std::ptrdiff_t>(gone));
  first_ += gone;
}

void LogMel::normalize(std::span<float> features, float largest) {
  for (float& x : features) x = (std::max(x, largest - 8.0F) + 4.0F) / 4.0F;
}

}  // namespace encdec
