#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lessons {

// State that a halted position has at the next steps, for other positions to attend to.
enum class HaltedState : std::uint8_t {
  transformed,  // the block continues to transform the state: listing in appendix C of Dehghani et al. 2018
  copied,       // the state stays as it was at halting, and is not the weighted result: their section 2.2
};

// Conditions under which positions halt.
struct HaltingOptions {
  int max_steps = 1;        // maximum number of steps for each position
  float threshold = 0.99f;  // a position halts when the sum of its probabilities exceeds this
};

// Adaptive computation time (Graves 2016): decides for each position how many steps it takes, and how much each step
// counts in its result.
// With p the position's probability of halting at this step, and h the sum of p over its earlier steps:
//   h + p <= threshold:  the step has weight p, and the position continues
//   h + p >  threshold:  the step has weight 1 - h, the remainder, and the position halts
//   result := weight * transformed + (1 - weight) * result
// Differences from the listing of Dehghani et al. 2018, appendix C:
// - The listing adds the remainder to h and considers a position halted if the sum reaches 1, which rounding may
//   prevent. This class records that the position has halted.
// - A position whose sum equals the threshold halts. In the listing it continues as long as other positions do.
class AdaptiveHalting {
 public:
  explicit AdaptiveHalting(const HaltingOptions& options) : options_(options) {}  // no positions; see reset()

  // Begins with `positions` positions, before their first step.
  void reset(std::int64_t positions) {
    const auto count = static_cast<std::size_t>(positions);
    halting_.assign(count, 0.0f);
    remainders_.assign(count, 0.0f);
    updates_.assign(count, 0);
  }

  // Returns whether the position takes another step.
  bool is_running(std::int64_t position) const {
    const auto i = static_cast<std::size_t>(position);
    return halting_[i] < options_.threshold && updates_[i] < options_.max_steps;
  }
  // Returns the weight of the position's next step, given its probability of halting. Returns 0 if the position is not
  // running.
  float step(std::int64_t position, float probability) {
    if (!is_running(position)) return 0.0f;
    const auto i = static_cast<std::size_t>(position);
    ++updates_[i];
    const float sum = halting_[i] + probability;
    if (sum <= options_.threshold) {
      halting_[i] = sum;
      return probability;
    }
    remainders_[i] = 1.0f - halting_[i];
    halting_[i] = 1.0f;
    return remainders_[i];
  }

  // Returns the number of steps that each position has taken.
  std::span<const std::int32_t> updates() const { return updates_; }
  // Returns the remainder of each position that has halted by its probabilities; 0 for others.
  std::span<const float> remainders() const { return remainders_; }

 private:
  HaltingOptions options_;
  std::vector<float> halting_;  // h
  std::vector<float> remainders_;
  std::vector<std::int32_t> updates_;
};

}  // namespace lessons
