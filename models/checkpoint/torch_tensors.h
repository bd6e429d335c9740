#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "encdec/engine/tensor.h"
#include "encdec/models/checkpoint/torch_file.h"

namespace encdec {

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

// The tensors of a dict, and how many other entries stand beside them.
struct TorchTensors {
  std::vector<NamedTensor> tensors;  // in order; a name may be there twice
  std::size_t others = 0;
  std::string first_other;  // printable
};

// The tensors of the outermost dict that has some: see read_pytorch. Those whose elements do not follow each other are
// copied, and take at most `copy_bytes` together. Throws FileError: which file, which tensor, what was expected.
TorchTensors read_torch_tensors(const TorchFile& file, std::uint64_t copy_bytes);

}  // namespace encdec
