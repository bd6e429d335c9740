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

// A file that keeps every rule of the format, with the tensors in the order given.
std::string safetensors_bytes(const std::vector<NamedTensor>& tensors);
void write_safetensors(const std::filesystem::path& path, const std::vector<NamedTensor>& tensors);

// A file with any header and data; only the length in front of the header is right.
std::string raw_safetensors(std::string_view header, std::string_view data);

}  // namespace encdec
