#include "encdec/engine/memory_plan.h"

#include <gtest/gtest.h>

namespace encdec {
namespace {

// That buffers in use do not overlap is tested with graphs, in executor_test.cc.
TEST(MemoryPlan, AChainNeedsTwoBuffers) {
  std::vector<Lifetime> chain;
  for (int step = 0; step < 10; ++step) chain.push_back({1000, step, step + 1});
  std::vector<std::size_t> offsets;
  EXPECT_EQ(plan_memory(chain, offsets), 2u * 1024);
}

TEST(MemoryPlan, NoBuffersNeedNoMemory) {
  std::vector<std::size_t> offsets(3);
  EXPECT_EQ(plan_memory({}, offsets), 0u);
  EXPECT_TRUE(offsets.empty());
}

}  // namespace
}  // namespace encdec
