#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace encdec {

// Returns the first line of the file `name` ("cpu.max", for example "200000 100000") in each control group (version 2)
// that holds this process: the process's own group first, then its parents up to the root that the process sees. Skips
// groups without such a file.
// `process` and `groups` are parameters for tests only.
std::vector<std::string> control_group_files(std::string_view name, const std::filesystem::path& process = "/proc/self",
                                             const std::filesystem::path& groups = "/sys/fs/cgroup");

}  // namespace encdec
