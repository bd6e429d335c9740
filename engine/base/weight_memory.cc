#include "encdec/engine/base/weight_memory.h"

namespace encdec {
namespace {

// Bytes of a shared piece. Pages that are never written use no physical memory.
constexpr std::size_t kSharedBytes = 16u << 20;

}  // namespace

Tensor WeightMemory::take(std::size_t bytes) {
  if (bytes >= Tensor::kHugePageBytes) return Tensor::uninitialized({static_cast<Dim>(bytes)}, DataType::uint8);
  const std::size_t reserved = (bytes + Tensor::kAlignment - 1) / Tensor::kAlignment * Tensor::kAlignment;
  if (piece_.empty() || piece_.bytes() - taken_ < reserved) {
    piece_ = Tensor::uninitialized({static_cast<Dim>(kSharedBytes)}, DataType::uint8);
    taken_ = 0;
  }
  const std::size_t first = taken_;
  taken_ += reserved;
  return piece_.slice(static_cast<std::int64_t>(first), static_cast<std::int64_t>(bytes));
}

}  // namespace encdec
