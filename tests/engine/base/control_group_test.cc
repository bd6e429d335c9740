#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "encdec/engine/base/machine.h"
#include "tests/support/temp_folder.h"

namespace encdec {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A process in the group /service/worker. Of its three groups /, /service and /service/worker, only the root has a
// limit of CPUs; /service has no file cpu.max.
class ControlGroup : public testing::Test {
 protected:
  ControlGroup() {
    std::filesystem::create_directories(folder_ / "groups/service/worker");
    folder_.write("cgroup", "12:cpu:/elsewhere\n0::/service/worker\n");
    folder_.write("groups/cpu.max", "400000 100000\n");
    folder_.write("groups/service/worker/cpu.max", "max 100000\n");
  }

  std::vector<std::string> files(std::string_view name) const {
    return control_group_files(name, folder_.path(), folder_ / "groups");
  }

  TempFolder folder_;
};

TEST_F(ControlGroup, FilesAreThoseOfTheGroupAndOfAllItsParents) {
  EXPECT_THAT(files("cpu.max"), ElementsAre("max 100000", "400000 100000"));
}

TEST_F(ControlGroup, MissingFilesAreLeftOut) {
  EXPECT_THAT(files("memory.max"), IsEmpty());
}

// In a container the group that the kernel names may lie outside the mounted hierarchy. Then only the mounted root is
// read.
TEST_F(ControlGroup, AGroupOutsideTheMountLeavesOnlyTheRoot) {
  folder_.write("cgroup", "0::/../outside\n");
  EXPECT_THAT(files("cpu.max"), ElementsAre("400000 100000"));
  folder_.write("cgroup", "");
  EXPECT_THAT(files("cpu.max"), ElementsAre("400000 100000"));
}

}  // namespace
}  // namespace encdec
