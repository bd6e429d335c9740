#pragma once

#include <cstddef>
#include <string_view>

#include "encdec/engine/base/tensor.h"

namespace encdec {

// A store of packed matrices, such as a file, that outlives the network that packed them. Each matrix has a name that
// says which weights of which stored tensors it holds. Packing the same weights again gives the same bytes.
class PackedWeights {
 public:
  virtual ~PackedWeights() = default;

  // Returns true if a matrix is stored under `name`.
  virtual bool contains(std::string_view name) const = 0;
  // Returns the matrix stored under `name` if it has exactly `bytes` bytes and is aligned to Tensor::kAlignment;
  // otherwise an empty tensor.
  virtual Tensor find(std::string_view name, std::size_t bytes) = 0;
  // Stores a matrix that find() did not return. REQUIRES: `packed` does not change afterwards.
  virtual void keep(std::string_view name, const Tensor& packed) = 0;
};

}  // namespace encdec
