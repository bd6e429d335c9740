// Replaces png.cc in a build without librsvg (ENCDEC_PICTURES=OFF).
#include <encdec/engine/base/error.h>

#include "attention/png.h"

namespace encdec::cli {

std::string png_of(const std::string&) {
  throw BackendError("PNG images are not in this build (ENCDEC_PICTURES=OFF)");
}

bool can_write_png() {
  return false;
}

}  // namespace encdec::cli
