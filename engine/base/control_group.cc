#include "encdec/engine/base/control_group.h"

#include <fstream>

namespace encdec {

std::vector<std::string> control_group_files(std::string_view name, const std::filesystem::path& process,
                                             const std::filesystem::path& groups) {
  std::filesystem::path group = "/";
  std::ifstream membership(process / "cgroup");
  constexpr std::string_view kUnified = "0::";
  for (std::string line; std::getline(membership, line);) {
    if (line.starts_with(kUnified)) group = line.substr(kUnified.size());
  }
  std::vector<std::string> contents;
  for (group = group.lexically_normal();; group = group.parent_path()) {
    std::ifstream file(groups / group.relative_path() / name);
    std::string content;
    if (std::getline(file, content)) contents.push_back(content);
    if (!group.has_relative_path()) return contents;
  }
}

}  // namespace encdec
