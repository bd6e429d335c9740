#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "encdec/engine/error.h"
#include "encdec/models/checkpoint/pytorch.h"
#include "tests/support/damage.h"

namespace encdec {

// The tensors of a file, given as its bytes. A file that is refused adds none.
inline WeightStore parse_torch(const std::string& text, std::vector<std::string>* notes = nullptr) {
  WeightStore store("test");
  const ExactBytes memory(text);
  try {
    parse_pytorch(memory.bytes(), memory.owner(), "x.bin", store, notes);
  } catch (const FileError& error) {
    EXPECT_THAT(error.what(), testing::StartsWith("x.bin: "));
    EXPECT_TRUE(store.tensors().empty());
    throw;
  }
  return store;
}

inline std::string torch_refusal_of(const std::string& text) {
  try {
    parse_torch(text);
  } catch (const FileError& error) {
    return error.what();
  }
  return "no error";
}

inline std::vector<float> floats_of(const Tensor& tensor) {
  std::vector<float> values(static_cast<std::size_t>(tensor.elements()));
  copy_as_float(tensor, 0, tensor.elements(), values.data());
  return values;
}

}  // namespace encdec
