#include "encdec/layers/transformer/expectations.h"

#include <fmt/format.h>

#include "encdec/engine/base/error.h"

namespace encdec {

void expect_count(Shapes inputs, std::size_t count) {
  if (inputs.size() != count) throw ShapeError(fmt::format("{} inputs, expected {}", inputs.size(), count));
}

void expect_rows(const Shape& shape, Dim width, std::string_view what) {
  if (shape.rank() != 2 || shape[1] != width) {
    throw ShapeError(fmt::format("{} has shape {}, expected [rows, {}]", what, to_string(shape), width));
  }
}

void expect_inputs(Shapes inputs, std::size_t count, Residual residual, const Shape& output) {
  expect_count(inputs, count + (residual == Residual::add ? 1 : 0));
  if (residual == Residual::add && inputs.back() != output) {
    throw ShapeError(fmt::format("residual has shape {}, expected {}", to_string(inputs.back()), to_string(output)));
  }
}

Shape shape_of_rows(Shapes inputs, Dim x_width, Dim width, Residual residual) {
  if (inputs.empty()) throw ShapeError("0 inputs, expected at least 1");
  expect_rows(inputs[0], x_width, "input");
  const Shape output{inputs[0][0], width};
  expect_inputs(inputs, 1, residual, output);
  return output;
}

void expect_token_ids(Shapes inputs) {
  if (inputs.size() != 1 || inputs[0].rank() != 1) throw ShapeError("expected one input of token ids, [rows]");
}

void expect_token_id(std::int32_t id, Dim vocabulary) {
  if (id < 0 || id >= vocabulary) {
    throw InputError(fmt::format("token id {}, expected 0 to {} (vocabulary size {})", id, vocabulary - 1, vocabulary));
  }
}

void expect_integers(const Tensor& tensor, std::string_view what) {
  if (tensor.type() == DataType::int32) return;
  throw InputError(fmt::format("{}: stored as {}, expected int32", what, to_string(tensor.type())));
}

}  // namespace encdec
