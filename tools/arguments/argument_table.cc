#include "arguments/argument_table.h"

namespace encdec::cli {
namespace {

std::vector<const CLI::Option*> shown(const CLI::App& command, bool is_positional) {
  return command.get_options([is_positional](const CLI::Option* argument) {
    return !argument->get_group().empty() && argument->nonpositional() != is_positional;
  });
}

}  // namespace

std::vector<const CLI::App*> subcommands_of(const CLI::App& command) {
  return command.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<const CLI::Option*> options_of(const CLI::App& command) {
  return shown(command, false);
}

std::vector<const CLI::Option*> positional_arguments_of(const CLI::App& command) {
  return shown(command, true);
}

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

}  // namespace encdec::cli
