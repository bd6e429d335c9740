#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace encdec {

// What a position that has halted hands on to the next step, for the others to attend to.
enum class HaltedState : std::uint8_t {
  transformed,  // it goes on being transformed: the listing of Dehghani et al. 2018, appendix C
  copied,       // the state, not the weighted result, that it halted with: their section 2.2
};

// When positions halt.
struct HaltingOptions {
  int max_steps = 1;        // at which they halt whatever their probabilities
  float threshold = 0.99f;  // a position halts when its probabilities add up to more
};

// Adaptive computation time (Graves 2016) of positions, each for itself: how many steps each takes, and how much of its
// result each step makes up. With p the probability that a position halts at a step, and h the sum of those before:
//   h + p <= threshold:  the step has weight p, and the position goes on
//   h + p >  threshold:  it has weight 1 - h, the remainder, and the position has halted
// A result is then, step by step, weight * transformed + (1 - weight) * result. The listing adds the remainder to h and
// asks whether that is below 1; here a position that has halted is known to have, whatever float32 makes of the sum. A
// position ends at a sum of exactly the threshold, as if it were alone: the listing lets it go on while others do.
class AdaptiveHalting {
 public:
  explicit AdaptiveHalting(const HaltingOptions& options) : options_(options) {}  // without positions

  // So many positions, before their first step.
  void reset(std::int64_t positions) {
    const auto count = static_cast<std::size_t>(positions);
    halting_.assign(count, 0.0f);
    remainders_.assign(count, 0.0f);
    updates_.assign(count, 0);
  }

  // Whether another step matters to a position.
  bool is_running(std::int64_t position) const {
    const auto i = static_cast<std::size_t>(position);
    return halting_[i] < options_.threshold && updates_[i] < options_.max_steps;
  }
  // The weight of the next step of a position that halts with the given probability; 0 if it is not running.
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

  // By position: steps that had a weight, and the last one's where it halted, else 0.
  std::span<const std::int32_t> updates() const { return updates_; }
  std::span<const float> remainders() const { return remainders_; }  // likewise

 private:
  HaltingOptions options_;
  std::vector<float> halting_;  // h
  std::vector<float> remainders_;
  std::vector<std::int32_t> updates_;
};

}  // namespace encdec
