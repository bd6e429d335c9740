#pragma once

#include <cstddef>

#include "encdec/engine/base/tensor.h"

namespace encdec {

// Memory for the packed matrices of a network, one after another. Matrices smaller than a huge page share larger
// pieces, so that all weights can lie in huge pages: every step reads all weights, and with small pages the CPU would
// spend much of its time looking up addresses. Not thread-safe.
class WeightMemory {
 public:
  // Returns `bytes` uninitialised bytes, aligned to Tensor::kAlignment. Throws OutOfMemory.
  Tensor take(std::size_t bytes);

 private:
  Tensor piece_;           // the piece that small matrices share
  std::size_t taken_ = 0;  // bytes of the piece in use
};

}  // namespace encdec
