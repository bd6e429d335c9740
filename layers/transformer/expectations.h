#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "encdec/engine/layer.h"
#include "encdec/engine/matmul.h"
#include "encdec/engine/run_state.h"

namespace encdec {

// What layers expect of shapes, when a graph is built: these throw ShapeError.

// So many inputs.
void expect_count(Shapes inputs, std::size_t count);

// [rows, width] for the given width. `what` names the input in the message.
void expect_rows(const Shape& shape, Dim width, std::string_view what);

// `count` inputs, and one more, shaped like the output, where a residual is added.
void expect_inputs(Shapes inputs, std::size_t count, Residual residual, const Shape& output);

// The shape of an output [R, width] for {x: [R, x_width]} or {x, residual: [R, width]}.
Shape shape_of_rows(Shapes inputs, Dim x_width, Dim width, Residual residual);

// One input, [rows].
void expect_token_ids(Shapes inputs);

// What is expected of a caller, when a graph runs: these throw InputError.

// One of a vocabulary of this size.
void expect_token_id(std::int32_t id, Dim vocabulary);

// int32: a graph checks the shapes of its nodes, and the types of its own inputs alone. `what` names the input.
void expect_integers(const Tensor& tensor, std::string_view what);

// No sequence with a past, for layers that keep nothing of earlier runs. `layer` is named.
void expect_no_past(std::span<const Sequence> sequences, std::string_view layer);

}  // namespace encdec
