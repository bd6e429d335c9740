#include "encdec/engine/base/machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "encdec/engine/base/error.h"
#include "tests/support/temp_folder.h"

namespace encdec {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(AvailableCpus, IsAtLeastOneAndNotMoreThanTheMachineHas) {
  EXPECT_GE(available_cpus(), 1);
  EXPECT_LE(available_cpus(), static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
}

TEST(DefaultThreads, AreTakenFromTheEnvironment) {
  const auto threads = [](const char* ours, const char* openmp) {
    ours != nullptr ? ::setenv("ENCDEC_THREADS", ours, 1) : ::unsetenv("ENCDEC_THREADS");
    openmp != nullptr ? ::setenv("OMP_NUM_THREADS", openmp, 1) : ::unsetenv("OMP_NUM_THREADS");
    return default_threads();
  };
  EXPECT_EQ(threads("3", "5"), 3);
  EXPECT_EQ(threads("", "5"), 5);
  EXPECT_EQ(threads(nullptr, "7,2"), 7);
  for (const char* openmp : {"0", "-1", "many", "", "9999999999"})
    EXPECT_EQ(threads(nullptr, openmp), available_cpus());
  for (const char* ours : {"0", "-1", "2x", "1025"}) EXPECT_THROW(threads(ours, nullptr), ConfigError) << ours;
  EXPECT_EQ(threads(nullptr, nullptr), available_cpus());
}

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
