#include "encdec/engine/base/weight_memory.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace encdec {
namespace {

TEST(WeightMemory, PartsAreAlignedDisjointAndOutliveIt) {
  std::vector<std::pair<Tensor, int>> parts;
  {
    WeightMemory memory;
    int value = 0;
    for (const std::size_t bytes : {1u, 63u, 64u, 65u, 0u, 1u << 20, (2u << 20) - 1, 2u << 20, 5u << 20}) {
      for (int repetition = 0; repetition < 12; ++repetition) {  // the small parts need more than one shared block
        const Tensor part = memory.take(bytes);
        ASSERT_EQ(part.bytes(), bytes);
        ASSERT_EQ(reinterpret_cast<std::uintptr_t>(part.raw()) % Tensor::kAlignment, 0u);
        parts.emplace_back(part, value++ % 251);
        std::memset(parts.back().first.raw(), parts.back().second, bytes);
      }
    }
  }
  for (const auto& [part, value] : parts) {
    for (std::size_t i = 0; i < part.bytes(); ++i) ASSERT_EQ(part.raw()[i], std::byte(value));
  }
}

}  // namespace
}  // namespace encdec
