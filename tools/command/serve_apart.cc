// Replaces serve.cc in a command without the server. Runs encdec-server, which is the same command with the server.
#include <encdec/engine/base/error.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "command/commands.h"

namespace encdec::cli {

Action add_serve(CLI::App& command) {
  command.set_help_flag();  // encdec-server shows the help
  command.prefix_command();
  return [&command] {
    const auto program = std::filesystem::read_symlink("/proc/self/exe").replace_filename("encdec-server");
    std::vector<std::string> words = command.remaining();
    words.insert(words.begin(), {"encdec", "serve"});
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    ::execv(program.c_str(), arguments.data());
    throw Error(program.string() + ": not found; 'encdec serve' needs the package encdec-server");
  };
}

}  // namespace encdec::cli
