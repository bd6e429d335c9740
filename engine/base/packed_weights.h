#pragma once

#include <cstddef>
#include <string_view>

#include "encdec/engine/base/tensor.h"

namespace encdec {

// Packed matrices that outlive what packs them, such as a file of them. Who builds a network asks for each matrix by a
// name that says which weights of which stored tensors it has; packing the same ones again would give the same bytes.
class PackedWeights {
 public:
  virtual ~PackedWeights() = default;

  // What is known under a name if it has exactly so many bytes, aligned to Tensor::kAlignment; else an empty tensor.
  virtual Tensor find(std::string_view name, std::size_t bytes) = 0;
  // What was packed because nothing was found. Nobody changes it afterwards.
  virtual void keep(std::string_view name, const Tensor& packed) = 0;
};

}  // namespace encdec
