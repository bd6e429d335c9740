#include "encdec/layers/transformer/positional_encoding.h"

namespace encdec {

Shape PositionalEncoding::output_shape(Shapes inputs) const {
  table_.check(inputs, table_.width());
  return inputs[0];
}

void PositionalEncoding::forward(Inputs inputs, Tensor& output, RunState& state) const {
  const Dim width = table_.width();
  table_.for_each_position(inputs, state, [&](int row, const float* encoding) {
    const float* input = inputs[0].row(row);
    float* sum = output.row(row);
    for (Dim i = 0; i < width; ++i) sum[i] = input[i] + encoding[i];
  });
}

}  // namespace encdec
