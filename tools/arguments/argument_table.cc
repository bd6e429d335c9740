#include "argument_table.h"

#include <algorithm>
#include <string_view>

namespace encdec::cli {
namespace {

Argument describe(const CLI::Option& option) {
  Argument argument{.names = {},
                    .type = option.get_type_size() == 0 ? "" : option.get_type_name(),
                    .description = option.get_description(),
                    .default_value = option.get_default_str(),
                    .group = option.get_group(),
                    .positional = !option.nonpositional(),
                    .required = option.get_required(),
                    .repeated = option.get_expected_max() == CLI::detail::expected_max_vector_size,
                    .value_optional = option.get_expected_min() == 0};
  if (argument.positional) {
    argument.names = {option.get_name(true)};
    return argument;
  }
  for (const std::string& name : option.get_snames()) argument.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) argument.names.push_back("--" + name);
  return argument;
}

}  // namespace

Value value_of(const Argument& argument) {
  Value value;
  std::string_view type = argument.type;
  if (type.starts_with('[')) type = type.substr(1, type.size() - 2);
  while (!type.empty()) {
    const std::string_view part = type.substr(0, type.find('|'));
    type.remove_prefix(std::min(type.size(), part.size() + 1));
    if (part == "FILE") value.is_file = true;
    if (part == "DIR") value.is_folder = true;
    if (part.front() >= 'a' && part.front() <= 'z') value.words.emplace_back(part);
  }
  return value;
}

Command describe(const CLI::App& app) {
  Command command{.name = app.get_name(),
                  .description = app.get_description(),
                  .footer = app.get_footer(),
                  .arguments = {},
                  .commands = {}};
  for (const CLI::Option* option : app.get_options([](const CLI::Option* o) { return !o->get_group().empty(); })) {
    command.arguments.push_back(describe(*option));
  }
  for (const CLI::App* subcommand : app.get_subcommands([](const CLI::App*) { return true; })) {
    command.commands.push_back(describe(*subcommand));
  }
  return command;
}

}  // namespace encdec::cli
