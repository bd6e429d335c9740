#pragma once

#include <cstdint>
#include <string_view>

#include "encdec/engine/layer.h"
#include "encdec/engine/matmul.h"
#include "encdec/engine/run_state.h"

namespace encdec {

// Checks while a graph is built. `what` names the input in the message.

// Throws ShapeError unless there are `count` inputs.
void expect_count(Shapes inputs, std::size_t count);

// Throws ShapeError unless `shape` is [rows, width].
void expect_rows(const Shape& shape, Dim width, std::string_view what);

// Throws ShapeError unless there are `count` inputs, and a residual of shape `output` if required.
void expect_inputs(Shapes inputs, std::size_t count, Residual residual, const Shape& output);

// Returns the output shape [R, width] for {x: [R, x_width]} or {x, residual: [R, width]}. Throws
// ShapeError for other inputs.
Shape shape_of_rows(Shapes inputs, Dim x_width, Dim width, Residual residual);

// Throws ShapeError unless there is one input [rows].
void expect_token_ids(Shapes inputs);

// Checks of the caller's data while a graph runs.

// Throws InputError unless 0 <= id < vocabulary.
void expect_token_id(std::int32_t id, Dim vocabulary);

// Throws InputError unless `tensor` is int32. Graphs check the types of their own inputs only.
void expect_integers(const Tensor& tensor, std::string_view what);

}  // namespace encdec
