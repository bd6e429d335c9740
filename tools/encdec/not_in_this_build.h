#pragma once

#include <string>

#include "encdec/commands.h"

namespace encdec::cli {

// Declares a subcommand that this build leaves out: its action throws UsageError. `option` is the CMake option that
// left it out.
inline Action not_in_this_build(CLI::App& command, const std::string& option) {
  const std::string where = "in this build (" + option + "=OFF)";
  command.description("Not " + where);
  command.allow_extras();
  return [message = command.get_name() + ": not " + where] { throw UsageError(message); };
}

}  // namespace encdec::cli
