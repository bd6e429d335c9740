#pragma once

#include <cstdint>

#include "encdec/engine/layer.h"

namespace encdec {

// For layers that read token ids.

// Throws ShapeError unless the one input is [rows].
void expect_token_ids(Shapes inputs);

// Throws InputError unless `id` is one of a vocabulary of this size.
void expect_token_id(std::int32_t id, Dim vocabulary);

// Throws InputError, naming the input, unless it is int32: a graph checks the shapes of its nodes, and the types of its
// own inputs alone.
void expect_integers(const Tensor& tensor, std::string_view what);

}  // namespace encdec
