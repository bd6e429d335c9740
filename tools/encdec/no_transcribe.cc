// Replaces align.cc and transcribe.cc in a build without speech.
#include "encdec/not_in_this_build.h"

namespace encdec::cli {

Action add_align(CLI::App& command) {
  return not_in_this_build(command, "ENCDEC_SPEECH");
}

Action add_transcribe(CLI::App& command) {
  return not_in_this_build(command, "ENCDEC_SPEECH");
}

}  // namespace encdec::cli
