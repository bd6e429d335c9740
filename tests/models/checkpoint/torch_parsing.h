#pragma once

#include <string>
#include <utility>
#include <vector>

#include "encdec/models/checkpoint/pytorch.h"
#include "tests/support/damage.h"
#include "tests/support/message_of.h"

namespace encdec {

// Parses the bytes of a file.
inline WeightStore parse_torch(const std::string& text, std::vector<std::string>* notes = nullptr) {
  const ExactBytes memory(text);
  return std::move(*parse_pytorch({memory.bytes(), memory.owner(), "x.bin"}, notes));
}

inline std::string torch_refusal_of(const std::string& text) {
  return refusal_of("x.bin: ", [&] { parse_torch(text); });
}

}  // namespace encdec
