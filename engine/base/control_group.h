#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace encdec {

// What the control groups (version 2) of this process say in their files of this name, the process's own first, then
// those around it, up to the root of what it sees: "200000 100000" for "cpu.max". Groups without such a file are left
// out. The folders are others in tests.
std::vector<std::string> control_group_files(std::string_view name, const std::filesystem::path& process = "/proc/self",
                                             const std::filesystem::path& groups = "/sys/fs/cgroup");

}  // namespace encdec
