// Replaces recordings.cc in a build without speech (ENCDEC_SPEECH=OFF).
#include <encdec/engine/base/error.h>

#include "demo/recordings.h"

namespace encdec::demo {

bool can_transcribe() {
  return false;
}

void transcribe_all(const std::string& /*folder*/, const std::vector<std::string>& /*files*/) {
  throw Error("recordings: not in this build (ENCDEC_SPEECH=OFF)");
}

}  // namespace encdec::demo
