#include "encdec/speech/audio/resampler.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

namespace encdec {
namespace {

// Constants of the filter that resampler.h describes.
constexpr double kZeros = 16;     // zero crossings of the sinc on each side
constexpr double kCutoff = 0.97;  // cutoff frequency / (half of the smaller sample rate)
constexpr double kBeta = 9;
// Maximum number of filter positions between two zero crossings of the sinc. Values between two positions are
// interpolated, with an error of -140 dB. This maximum limits the filter to two megabytes at any sample rate.
constexpr double kMaxPhases = 4096;

// Returns the modified Bessel function of the first kind and order 0, by its power series.
double bessel(double x) {
  double sum = 1, term = 1;
  for (int k = 1; term > sum * 1e-17; ++k) {
    term *= (x / (2 * k)) * (x / (2 * k));
    sum += term;
  }
  return sum;
}

// Returns the Kaiser window at x in [-1, 1], without normalisation.
double window(double x) {
  return bessel(kBeta * std::sqrt(std::max(0.0, 1 - x * x)));
}

double sinc(double x) {
  return x == 0 ? 1 : std::sin(std::numbers::pi * x) / (std::numbers::pi * x);
}

// Returns the dot product. Uses 16 accumulators, so that all compilers add in the same order.
float dot(const float* a, const float* b, std::size_t count) {
  constexpr std::size_t kAccumulators = 16;
  std::array<float, kAccumulators> sums = {};
  std::size_t i = 0;
  for (; i + kAccumulators <= count; i += kAccumulators) {
    for (std::size_t lane = 0; lane < kAccumulators; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  }
  for (std::size_t lane = 0; i < count; ++i, ++lane) sums[lane] += a[i] * b[i];
  for (std::size_t step = kAccumulators / 2; step > 0; step /= 2) {
    for (std::size_t lane = 0; lane < step; ++lane) sums[lane] += sums[lane + step];
  }
  return sums[0];
}

}  // namespace

Resampler::Resampler(int from_rate, int to_rate) {
  const int divisor = std::gcd(from_rate, to_rate);
  from_ = static_cast<std::uint64_t>(from_rate / divisor);
  to_ = static_cast<std::uint64_t>(to_rate / divisor);
  if (from_ == to_) return;
  // Compute the sizes of the filter.
  const double ratio = static_cast<double>(to_rate) / from_rate;
  phases_ =
      static_cast<std::size_t>(std::min(to_, static_cast<std::uint64_t>(std::ceil(kMaxPhases * std::min(1.0, ratio)))));
  const double width = std::min(1.0, kCutoff * ratio);  // zero crossings of the sinc per input sample
  taps_ = static_cast<std::size_t>(std::ceil(2 * kZeros / width));
  taps_ += taps_ % 2;
  before_ = taps_ / 2 - 1;
  // Compute the weights of each phase and scale their sum to 1. The last row is used only for interpolation.
  weights_.resize((phases_ + 1) * taps_);
  std::vector<double> values(taps_);
  for (std::size_t phase = 0; phase <= phases_; ++phase) {
    const double position = static_cast<double>(before_) + static_cast<double>(phase) / static_cast<double>(phases_);
    for (std::size_t i = 0; i < taps_; ++i) {
      const double x = static_cast<double>(i) - position;
      values[i] = sinc(x * width) * window(x / (static_cast<double>(taps_) / 2));
    }
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    float* row = weights_.data() + phase * taps_;
    for (std::size_t i = 0; i < taps_; ++i) row[i] = static_cast<float>(values[i] / sum);
  }
}

void Resampler::push(std::span<const float> input, std::vector<float>& output) {
  if (from_ == to_) {
    output.insert(output.end(), input.begin(), input.end());
    return;
  }
  read_ += input.size();
  input_.insert(input_.end(), input.begin(), input.end());
  if (read_ <= before_) return;  // too few samples to mirror the beginning
  if (read_ - input.size() <= before_) begin();
  // Write all outputs whose last input is known.
  const std::uint64_t inputs = first_ + input_.size();
  if (inputs >= taps_) write(((inputs - taps_ + 1) * to_ + from_ - 1) / from_, output);
}

void Resampler::finish(std::vector<float>& output) {
  if (from_ == to_ || read_ == 0) return;
  if (read_ <= before_) begin();
  const std::size_t inputs = input_.size();
  for (std::size_t i = 0; i < taps_ - before_; ++i) input_.push_back(i < inputs ? input_[inputs - 1 - i] : 0.0F);
  write((read_ * to_ + from_ - 1) / from_, output);
}

// Inserts before_ mirrored inputs at the beginning. If there are too few inputs, the rest is zeros.
void Resampler::begin() {
  std::vector<float> mirror(before_);
  for (std::size_t i = 1; i <= std::min(before_, input_.size() - 1); ++i) mirror[before_ - i] = input_[i];
  input_.insert(input_.begin(), mirror.begin(), mirror.end());
}

// Appends the outputs before index `last`.
void Resampler::write(std::uint64_t last, std::vector<float>& output) {
  for (; written_ < last; ++written_) output.push_back(sample_at(written_));
  // Drop inputs that no later output needs.
  const std::uint64_t next = written_ * from_ / to_;
  if (next <= first_) return;
  const std::size_t gone = static_cast<std::size_t>(std::min<std::uint64_t>(next - first_, input_.size()));
  constexpr std::size_t kWorthMoving = 1 << 14;  // minimum number of inputs to drop at once
  if (gone < kWorthMoving) return;
  input_.erase(input_.begin(), input_.begin() + static_cast<std::ptrdiff_t>(gone));
  first_ += gone;
}

// Returns output `number`. Interpolates between the two nearest phases.
float Resampler::sample_at(std::uint64_t number) const {
  const std::uint64_t position = number * from_;  // time, in units of (1 / to_) input samples
  const float* inputs = input_.data() + (position / to_ - first_);
  const std::uint64_t phase = position % to_ * phases_;
  const float* row = weights_.data() + phase / to_ * taps_;
  const float sum = dot(inputs, row, taps_);
  if (phase % to_ == 0) return sum;
  const float rest = static_cast<float>(phase % to_) / static_cast<float>(to_);
  return sum + rest * (dot(inputs, row + taps_, taps_) - sum);
}

}  // namespace encdec
