// Replaces serve.cc in a build without the server.
#include "encdec/not_in_this_build.h"

namespace encdec::cli {

Action add_serve(CLI::App& command) {
  return not_in_this_build(command, "ENCDEC_SERVER");
}

}  // namespace encdec::cli
