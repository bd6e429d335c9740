// Replaces transcribe.cc in a build without speech (ENCDEC_SPEECH=OFF).
#include "encdec/commands.h"

namespace encdec::cli {

Action add_transcribe(CLI::App& command) {
  command.description("Not in this build (ENCDEC_SPEECH=OFF)");
  command.allow_extras();
  return [] { throw UsageError("transcribe: not in this build (ENCDEC_SPEECH=OFF)"); };
}

}  // namespace encdec::cli
