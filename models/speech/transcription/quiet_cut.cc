#include "encdec/models/speech/transcription/quiet_cut.h"

namespace encdec {

std::size_t quiet_cut(std::span<const float> samples) {
  constexpr std::size_t kWidth = 1600, kStep = 160;  // samples
  const auto energy = [&](std::size_t first) {
    double sum = 0;
    for (const float sample : samples.subspan(first, kStep)) sum += double{sample} * double{sample};
    return sum;
  };
  std::size_t quietest = 0;
  double least = 0;
  for (std::size_t first = samples.size() * 2 / 3; first + kWidth <= samples.size(); first += kStep) {
    double sum = 0;
    for (std::size_t step = 0; step < kWidth; step += kStep) sum += energy(first + step);
    if (quietest == 0 || sum <= least) {
      quietest = first;
      least = sum;
    }
  }
  return quietest + kWidth / 2;
}

}  // namespace encdec
