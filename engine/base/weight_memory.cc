#include "encdec/engine/base/weight_memory.h"

namespace encdec {
namespace {

// Size in bytes of a shared block. Pages that are never written use no physical memory.
constexpr std::size_t kSharedBytes = 16u << 20;

}  // namespace

Tensor WeightMemory::take(std::size_t bytes) {
  if (bytes >= Tensor::kHugePageBytes) return Tensor::of_bytes(bytes);
  const std::size_t reserved = Tensor::aligned(bytes);
  if (block_.empty() || block_.bytes() - taken_ < reserved) {
    block_ = Tensor::of_bytes(kSharedBytes);
    taken_ = 0;
  }
  const std::size_t first = taken_;
  taken_ += reserved;
  return block_.slice(static_cast<std::int64_t>(first), static_cast<std::int64_t>(bytes));
}

}  // namespace encdec
