#pragma once

#include <cstddef>

#include "encdec/engine/base/tensor.h"

namespace encdec {

// Memory for the packed matrices of a network, one behind the other: those that are smaller than a huge page share
// some. Every step reads them all, and with small pages the processor would look up addresses all the time. For one
// thread at a time.
class WeightMemory {
 public:
  // Bytes that are not set yet, aligned to Tensor::kAlignment. Throws std::bad_alloc.
  Tensor take(std::size_t bytes);

 private:
  Tensor piece_;           // that small ones are parts of
  std::size_t taken_ = 0;  // bytes of it
};

}  // namespace encdec
