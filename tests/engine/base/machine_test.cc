#include "encdec/engine/base/machine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "encdec/engine/base/error.h"

namespace encdec {
namespace {

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

}  // namespace
}  // namespace encdec
