#include "encdec/models/universal_transformer/adaptive_halting.h"

namespace encdec {

void AdaptiveHalting::reset(std::int64_t positions) {
  const auto count = static_cast<std::size_t>(positions);
  halting_.assign(count, 0.0f);
  remainders_.assign(count, 0.0f);
  updates_.assign(count, 0);
}

float AdaptiveHalting::step(std::int64_t position, float probability) {
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

}  // namespace encdec
