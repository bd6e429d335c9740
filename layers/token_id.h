#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <span>

#include "encdec/engine/error.h"
#include "encdec/engine/shape.h"

namespace encdec {

// Throws InputError unless `id` is one of a vocabulary of this size.
inline void expect_token_id(std::int32_t id, Dim vocabulary) {
  if (id < 0 || id >= vocabulary) {
    throw InputError(fmt::format("token id {}, expected 0 to {} (vocabulary size {})", id, vocabulary - 1, vocabulary));
  }
}

// Throws ShapeError unless the one input is [rows].
inline void expect_token_ids(std::span<const Shape> inputs) {
  if (inputs.size() != 1 || inputs[0].rank() != 1) throw ShapeError("expected one input of token ids, [rows]");
}

}  // namespace encdec
