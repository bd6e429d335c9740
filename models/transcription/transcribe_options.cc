#include "encdec/models/transcription/transcribe_options.h"

namespace encdec {

std::vector<double> fallback_temperatures(double first, std::optional<double> step) {
  std::vector<double> temperatures = {first};
  if (!step) return temperatures;
  // numpy.arange(first, 1 + 1e-6, step).
  for (int i = 1;; ++i) {
    const double next = first + i * *step;
    if (next >= 1.0 + 1e-6) return temperatures;
    temperatures.push_back(next);
  }
}

}  // namespace encdec
