#pragma once

#include <cstdint>
#include <string_view>

#include "encdec/engine/layer.h"
#include "encdec/engine/matmul.h"
#include "encdec/engine/run_state.h"

namespace encdec {

// Checks of shapes, made when a graph is built.

// Throws ShapeError unless there are `count` inputs.
void expect_count(Shapes inputs, std::size_t count);

// Throws ShapeError unless `shape` is [rows, width]. `what` names the input in the message.
void expect_rows(const Shape& shape, Dim width, std::string_view what);

// Throws ShapeError unless there are `count` inputs, followed by a residual of shape `output` if `residual` is add.
void expect_inputs(Shapes inputs, std::size_t count, Residual residual, const Shape& output);

// Returns the output shape [R, width] for inputs {x: [R, x_width]} or {x, residual: [R, width]}. Throws ShapeError for
// other inputs.
Shape shape_of_rows(Shapes inputs, Dim x_width, Dim width, Residual residual);

// Throws ShapeError unless there is one input, of shape [rows].
void expect_token_ids(Shapes inputs);

// Checks of what the caller passes, made when a graph runs.

// Throws InputError unless 0 <= id < vocabulary.
void expect_token_id(std::int32_t id, Dim vocabulary);

// Throws InputError unless `tensor` is int32. A layer has to check this, since graphs check the types of their own
// inputs only. `what` names the tensor in the message.
void expect_integers(const Tensor& tensor, std::string_view what);

}  // namespace encdec
