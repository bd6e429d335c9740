#include "universal_transformer/adaptive_halting.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/support/random_tensors.h"

namespace lessons {
namespace {

using namespace encdec;

constexpr float kThreshold = 0.99f;

// One position in double precision, as in the listing of Dehghani et al. 2018.
struct Listing {
  double halting = 0, remainder = 0;
  int updates = 0;

  double step(double p) {
    double still_running = halting < 1 ? 1 : 0;
    const double new_halted = halting + p * still_running > kThreshold ? still_running : 0;
    still_running = halting + p * still_running <= kThreshold ? still_running : 0;
    halting += p * still_running;
    remainder += new_halted * (1 - halting);
    if (new_halted != 0) halting = 1;
    updates += static_cast<int>(still_running + new_halted);
    return p * still_running + new_halted * remainder;
  }
};

TEST(AdaptiveHalting, FollowsTheListingForEveryPosition) {
  constexpr int kPositions = 500, kSteps = 12;
  const Tensor probabilities = RandomTensors(1).uniform({kSteps, kPositions});
  AdaptiveHalting halting({.max_steps = kSteps, .threshold = kThreshold});
  halting.reset(kPositions);
  std::vector<Listing> expected(kPositions);
  std::vector<double> sums(kPositions);
  for (int step = 0; step < kSteps; ++step) {
    for (int i = 0; i < kPositions; ++i) {
      // Small and large numbers between 0 and 1.
      const float p = std::pow(std::abs(probabilities.row(step)[i]), static_cast<float>(1 + i % 5));
      const float weight = halting.step(i, p);
      ASSERT_NEAR(weight, expected[static_cast<std::size_t>(i)].step(p), 1e-6) << "position " << i << ", step " << step;
      sums[static_cast<std::size_t>(i)] += weight;
    }
  }
  int halted = 0;
  for (std::size_t i = 0; i < kPositions; ++i) {
    EXPECT_EQ(halting.updates()[i], expected[i].updates);
    EXPECT_NEAR(halting.remainders()[i], expected[i].remainder, 1e-6);
    const bool has_halted = !halting.is_running(static_cast<std::int64_t>(i)) && halting.remainders()[i] > 0;
    if (!has_halted) continue;
    EXPECT_NEAR(sums[i], 1.0, 1e-6);
    ++halted;
  }
  EXPECT_GT(halted, kPositions / 2);
  EXPECT_LT(halted, kPositions);
}

// In float32, h + (1 - h) is not always 1: for h of 0.1, 0.3 and others the sum may be the next float below 1.
TEST(AdaptiveHalting, APositionThatHasHaltedNeverRunsAgain) {
  for (int i = 1; i < 1000; ++i) {
    AdaptiveHalting halting({.max_steps = 100, .threshold = kThreshold});
    halting.reset(1);
    EXPECT_EQ(halting.step(0, static_cast<float>(i) / 1013.0f), static_cast<float>(i) / 1013.0f);
    EXPECT_TRUE(halting.is_running(0));
    EXPECT_GT(halting.step(0, 0.995f), 0.0f);
    for (int more = 0; more < 3; ++more) {
      EXPECT_FALSE(halting.is_running(0));
      EXPECT_EQ(halting.step(0, 0.995f), 0.0f);
    }
    EXPECT_EQ(halting.updates()[0], 2);
  }
}

TEST(AdaptiveHalting, APositionThatDoesNotHaltStopsAfterAllSteps) {
  AdaptiveHalting halting({.max_steps = 3, .threshold = kThreshold});
  halting.reset(2);
  for (int step = 0; step < 3; ++step) {
    EXPECT_TRUE(halting.is_running(1));
    EXPECT_EQ(halting.step(1, 0.25f), 0.25f);
  }
  EXPECT_FALSE(halting.is_running(1));
  EXPECT_EQ(halting.step(1, 0.9f), 0.0f);
  EXPECT_EQ(halting.updates()[1], 3);
  EXPECT_EQ(halting.remainders()[1], 0.0f);
  EXPECT_EQ(halting.updates()[0], 0);
}

TEST(AdaptiveHalting, ASumOfExactlyTheThresholdHaltsWithoutARemainder) {
  AdaptiveHalting halting({.max_steps = 9, .threshold = 0.75f});
  halting.reset(1);
  EXPECT_EQ(halting.step(0, 0.75f), 0.75f);
  EXPECT_FALSE(halting.is_running(0));
  EXPECT_EQ(halting.remainders()[0], 0.0f);
}

}  // namespace
}  // namespace lessons
