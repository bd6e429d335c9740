#include "encdec/layers/transformer/gather.h"

#include <fmt/format.h>

#include <algorithm>

#include "encdec/engine/base/error.h"
#include "encdec/layers/transformer/expectations.h"

namespace encdec {

Shape Gather::output_shape(Shapes inputs) const {
  expect_count(inputs, 2);
  if (inputs[0].rank() != 2 || inputs[1].rank() != 1) {
    throw ShapeError(fmt::format("inputs of shapes {} and {}, expected [rows, width] and [numbers]",
                                 to_string(inputs[0]), to_string(inputs[1])));
  }
  return {inputs[1][0], inputs[0][1]};
}

void Gather::forward(Inputs inputs, Tensor& output, RunState&) const {
  expect_integers(inputs[1], "row numbers");
  const std::int32_t* rows = inputs[1].data<std::int32_t>();
  for (Dim t = 0; t < output.rows(); ++t) {
    if (rows[t] < 0 || rows[t] >= inputs[0].rows()) {
      throw InputError(fmt::format("row {}, expected 0 to {}", rows[t], inputs[0].rows() - 1));
    }
    std::copy_n(inputs[0].row(rows[t]), output.width(), output.row(t));
  }
}

}  // namespace encdec
