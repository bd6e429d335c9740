#include "encdec/engine/memory_plan.h"

#include <algorithm>

#include "encdec/engine/base/tensor.h"

namespace encdec {

std::size_t plan_memory(std::span<const Lifetime> buffers, std::vector<std::size_t>& offsets) {
  offsets.assign(buffers.size(), 0);
  std::size_t arena = 0;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const std::size_t size = Tensor::aligned(buffers[i].bytes);
    // Moving past one buffer may cause an overlap with a buffer that was already checked, so check all buffers again.
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t other = 0; other < i; ++other) {
        const bool contemporary = buffers[other].first <= buffers[i].last && buffers[i].first <= buffers[other].last;
        const std::size_t other_end = offsets[other] + Tensor::aligned(buffers[other].bytes);
        if (contemporary && offsets[i] < other_end && offsets[other] < offsets[i] + size) {
          offsets[i] = other_end;
          moved = true;
        }
      }
    }
    arena = std::max(arena, offsets[i] + size);
  }
  return arena;
}

}  // namespace encdec
