#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "encdec/engine/base/weights.h"
#include "tests/fuzz/require.h"

namespace encdec {

// Reads all bytes of a tensor, so that sanitizers report bytes outside of the file.
inline void read_all(const Tensor& tensor) {
  require(!tensor.empty() && !tensor.shape().is_symbolic(), "a tensor has a place and sizes");
  unsigned sum = 0;
  for (std::size_t i = 0; i < tensor.bytes(); ++i) sum += std::to_integer<unsigned>(tensor.raw()[i]);
  require(sum <= 255 * tensor.bytes(), "bytes can be read");
  if (!is_weight_type(tensor.type()) || tensor.elements() == 0) return;
  std::vector<float> values(static_cast<std::size_t>(tensor.elements()));
  copy_as_float(tensor, 0, tensor.elements(), values.data());
}

// Reads all tensors and scales of a store.
inline void read_all(const WeightStore& store) {
  for (const auto& [name, tensor] : store.tensors()) {
    read_all(tensor);
    const Tensor* scale = store.find_scale(name);
    if (scale == nullptr) continue;
    read_all(*scale);
    require(scale->elements() == 1 || scale->elements() == tensor.rows(), "a scale for each row, or one");
  }
}

}  // namespace encdec
