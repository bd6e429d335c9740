// Replaces translate.cc in a build without documents and routes.
#include "encdec/not_in_this_build.h"

namespace encdec::cli {

Action add_translate(CLI::App& command) {
  return not_in_this_build(command, "ENCDEC_TRANSLATION");
}

}  // namespace encdec::cli
