// Replaces serve.cc in a build without the server (ENCDEC_SERVER=OFF).
#include "encdec/commands.h"

namespace encdec::cli {

Action add_serve(CLI::App& command) {
  command.description("Not in this build (ENCDEC_SERVER=OFF)");
  command.allow_extras();
  return [] { throw UsageError("serve: not in this build (ENCDEC_SERVER=OFF)"); };
}

}  // namespace encdec::cli
