#pragma once

#include <cstddef>

#include "encdec/engine/base/tensor.h"

namespace encdec {

// Memory for a network's packed matrices. Matrices smaller than a huge page share larger blocks, so
// that all weights lie in huge pages: every step reads all weights, and with small pages the CPU
// would spend much of its time on address translation. Not thread-safe.
class WeightMemory {
 public:
  // Returns uninitialised memory, aligned to Tensor::kAlignment. Throws OutOfMemory.
  Tensor take(std::size_t bytes);

 private:
  Tensor block_;           // the block that small matrices share
  std::size_t taken_ = 0;  // bytes of the block in use
};

}  // namespace encdec
