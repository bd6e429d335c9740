// Replaces image.cc in a build without Pango and cairo (ENCDEC_PICTURES=OFF).
#include <encdec/engine/base/error.h>

#include "attention/image.h"

namespace encdec::cli {

std::string draw_png(std::span<const LabelledAttention>) {
  throw BackendError("images are not in this build (ENCDEC_PICTURES=OFF)");
}

bool can_draw_png() {
  return false;
}

}  // namespace encdec::cli
