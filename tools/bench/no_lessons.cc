// Replaces lesson_layers.cc and universal.cc in a build without lessons (ENCDEC_LESSONS=OFF).
#include "bench/counters.h"

namespace encdec::bench {

std::vector<LayerSample> lesson_layers() {
  return {};
}

void register_universal() {}

}  // namespace encdec::bench
