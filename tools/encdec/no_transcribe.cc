// Replaces transcribe.cc in a build without speech.
#include "encdec/not_in_this_build.h"

namespace encdec::cli {

Action add_transcribe(CLI::App& command) {
  return not_in_this_build(command, "ENCDEC_SPEECH");
}

}  // namespace encdec::cli
