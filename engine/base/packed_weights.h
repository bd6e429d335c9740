#pragma once

#include <cstddef>
#include <string_view>

#include "encdec/engine/base/tensor.h"

namespace encdec {

// A store of packed matrices, such as a file, that outlives the network. A matrix's name identifies
// its source tensors and the range of their weights. Equal weights are packed to equal bytes.
class PackedWeights {
 public:
  virtual ~PackedWeights() = default;

  virtual bool contains(std::string_view name) const = 0;
  // Returns the matrix stored under `name`, or an empty tensor unless it has exactly `bytes` bytes
  // and is aligned to Tensor::kAlignment.
  virtual Tensor find(std::string_view name, std::size_t bytes) = 0;
  // Stores a matrix that find() did not return. REQUIRES: `packed` does not change afterwards.
  virtual void keep(std::string_view name, const Tensor& packed) = 0;
};

}  // namespace encdec
