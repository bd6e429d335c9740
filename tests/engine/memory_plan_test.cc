#include "encdec/engine/memory_plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "encdec/engine/base/tensor.h"
#include "tests/support/random_tensors.h"

namespace encdec {
namespace {

std::size_t aligned(std::size_t bytes) {
  return (bytes + Tensor::kAlignment - 1) / Tensor::kAlignment * Tensor::kAlignment;
}

TEST(MemoryPlan, BuffersInUseAtTheSameTimeDoNotOverlap) {
  RandomTensors random(1);
  for (int repetition = 0; repetition < 500; ++repetition) {
    std::vector<Lifetime> buffers(static_cast<std::size_t>(1 + random.below(40)));
    for (Lifetime& buffer : buffers) {
      buffer.first = random.below(20);
      buffer.last = buffer.first + random.below(6);
      buffer.bytes = random.below(5) == 0 ? 0 : static_cast<std::size_t>(random.below(5000));
    }
    std::vector<std::size_t> offsets;
    const std::size_t arena = plan_memory(buffers, offsets);
    ASSERT_EQ(offsets.size(), buffers.size());
    std::size_t sum = 0;
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      sum += aligned(buffers[i].bytes);
      ASSERT_EQ(offsets[i] % Tensor::kAlignment, 0u);
      ASSERT_LE(offsets[i] + buffers[i].bytes, arena);
      for (std::size_t j = 0; j < i; ++j) {
        if (buffers[i].first > buffers[j].last || buffers[j].first > buffers[i].last) continue;
        const std::size_t low = std::max(offsets[i], offsets[j]);
        const std::size_t high = std::min(offsets[i] + buffers[i].bytes, offsets[j] + buffers[j].bytes);
        ASSERT_LE(high, low) << "buffers " << j << " and " << i << " of repetition " << repetition;
      }
    }
    ASSERT_LE(arena, sum);
    // No plan can use less memory than the buffers in use at one step.
    for (int step = 0; step < 26; ++step) {
      std::size_t alive = 0;
      for (const Lifetime& buffer : buffers) {
        if (buffer.first <= step && step <= buffer.last) alive += aligned(buffer.bytes);
      }
      ASSERT_GE(arena, alive);
    }
  }
}

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
