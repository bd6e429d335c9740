// Replaces lesson_layers.cc in a build without lessons (ENCDEC_LESSONS=OFF).
#include "bench/samples.h"

namespace encdec::bench {

std::vector<LayerSample> lesson_layers() {
  return {};
}

}  // namespace encdec::bench
