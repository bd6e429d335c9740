#include "encdec/models/speech/features/fft.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace encdec {
namespace {

TEST(RealFft, FollowsTheDefinition) {
  constexpr std::size_t kSignals = RealFft::kSignals;
  for (const std::size_t size : {std::size_t{2}, std::size_t{4}, std::size_t{12}, std::size_t{60}, std::size_t{400}}) {
    std::vector<double> signals(size * kSignals), powers((size / 2 + 1) * kSignals);
    for (std::size_t i = 0; i < signals.size(); ++i) signals[i] = std::sin(static_cast<double>(i * i % 1009));
    RealFft fft(size);
    fft.powers(signals, powers);
    for (std::size_t k = 0; k <= size / 2; ++k) {
      for (std::size_t lane = 0; lane < kSignals; ++lane) {
        std::complex<double> sum;
        for (std::size_t i = 0; i < size; ++i) {
          sum += signals[i * kSignals + lane] *
                 std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(i * k % size) / static_cast<double>(size));
        }
        EXPECT_NEAR(powers[k * kSignals + lane], std::norm(sum), 1e-10 * static_cast<double>(size)) << size << " " << k;
      }
    }
  }
}

}  // namespace
}  // namespace encdec
