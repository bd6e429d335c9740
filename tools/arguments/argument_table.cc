#include "argument_table.h"

#include <algorithm>
#include <string_view>

namespace encdec::cli {

std::vector<const CLI::App*> subcommands_of(const CLI::App& command) {
  return command.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<const CLI::Option*> arguments_of(const CLI::App& command) {
  return command.get_options([](const CLI::Option* option) { return !option->get_group().empty(); });
}

std::vector<std::string> names_of(const CLI::Option& argument) {
  if (is_positional(argument)) return {argument.get_name(true)};
  std::vector<std::string> names;
  for (const std::string& name : argument.get_snames()) names.push_back("-" + name);
  for (const std::string& name : argument.get_lnames()) names.push_back("--" + name);
  return names;
}

Value value_of(const CLI::Option& option) {
  Value value;
  const std::string name = option.get_type_name();
  std::string_view type = name;
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

}  // namespace encdec::cli
