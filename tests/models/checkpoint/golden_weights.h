#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/engine/base/weights.h"
#include "encdec/models/checkpoint/mapped_file.h"
#include "encdec/models/checkpoint/safetensors.h"

namespace encdec {

inline const std::filesystem::path kGoldenCheckpoints = std::filesystem::path(ENCDEC_GOLDEN_DIR) / "checkpoint";

inline std::string read_golden(std::string_view name) {
  return read_text_file(kGoldenCheckpoints / name, 1u << 20);
}

inline std::vector<float> floats_of(const Tensor& tensor) {
  std::vector<float> values(static_cast<std::size_t>(tensor.elements()));
  copy_as_float(tensor, 0, tensor.elements(), values.data());
  return values;
}

// Expects that `store` holds exactly the tensors of NAME.safetensors, which are the expected contents of file NAME.
inline void expect_golden(const WeightStore& store, std::string_view name) {
  const auto expected = read_safetensors(kGoldenCheckpoints / (std::string(name) + ".safetensors"));
  std::size_t scales = 0;
  for (const auto& [key, tensor] : expected->tensors()) {
    SCOPED_TRACE(key);
    const std::string_view stem = std::string_view(key).substr(0, key.size() - std::min<std::size_t>(key.size(), 6));
    const Tensor* found =
        key.ends_with("_scale") && store.find_scale(stem) != nullptr ? store.find_scale(stem) : store.find(key);
    ASSERT_NE(found, nullptr);
    if (found == store.find_scale(stem)) ++scales;
    EXPECT_EQ(found->type(), tensor.type());
    // A quantized tensor has one scale for each row or one for all rows, in any shape.
    if (found->shape().rank() > 0) {
      EXPECT_EQ(to_string(found->shape()), to_string(tensor.shape()));
    }
    const auto text = [](const Tensor& t) { return std::string(reinterpret_cast<const char*>(t.raw()), t.bytes()); };
    EXPECT_EQ(text(*found), text(tensor));
  }
  EXPECT_EQ(store.tensors().size() + scales, expected->tensors().size());
}

}  // namespace encdec
