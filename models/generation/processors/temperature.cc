#include "encdec/models/generation/processors/temperature.h"

namespace encdec {

void Temperature::process(const TokenHistory& /*history*/, std::span<float> scores) const {
  for (float& score : scores) score /= temperature_;
}

}  // namespace encdec
