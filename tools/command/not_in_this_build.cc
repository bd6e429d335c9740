// The subcommands that a build leaves out.
#include <string>

#include "command/commands.h"

namespace encdec::cli {
namespace {

// Declares a subcommand whose action throws UsageError. `option` is the CMake option that left it out.
[[maybe_unused]] Action not_in_this_build(CLI::App& command, const std::string& option) {
  const std::string where = "in this build (" + option + "=OFF)";
  command.description("Not " + where);
  command.allow_extras();
  return [message = command.get_name() + ": not " + where] { throw UsageError(message); };
}

}  // namespace

#if !ENCDEC_SPEECH
Action add_align(CLI::App& command) {
  return not_in_this_build(command, "ENCDEC_SPEECH");
}
Action add_transcribe(CLI::App& command) {
  return not_in_this_build(command, "ENCDEC_SPEECH");
}
#endif

#if !ENCDEC_TRANSLATION
Action add_translate(CLI::App& command) {
  return not_in_this_build(command, "ENCDEC_TRANSLATION");
}
#endif

#if !ENCDEC_SERVER
Action add_serve(CLI::App& command) {
  return not_in_this_build(command, "ENCDEC_SERVER");
}
#endif

}  // namespace encdec::cli
