#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/engine/base/tensor.h"

namespace encdec {

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

// Returns (writes) a valid file with the tensors in the given order.
std::string safetensors_bytes(const std::vector<NamedTensor>& tensors);
void write_safetensors(const std::filesystem::path& path, const std::vector<NamedTensor>& tensors);

// Returns a file with the given header and data, which need not be valid. Only the length before the header is correct.
std::string raw_safetensors(std::string_view header, std::string_view data);

}  // namespace encdec
