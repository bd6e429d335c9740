#include "dense/dropout.h"

#include <fmt/format.h>

#include <algorithm>

#include "encdec/engine/base/error.h"
#include "encdec/layers/transformer/expectations.h"

namespace lessons {

Dropout::Dropout(const DropoutOptions& options) {
  if (options.rate >= 0.0f && options.rate < 1.0f) return;
  throw ConfigError(fmt::format("dropout: rate {}, expected at least 0 and less than 1", options.rate));
}

Shape Dropout::output_shape(Shapes inputs) const {
  expect_count(inputs, 1);
  return inputs[0];
}

void Dropout::forward(Inputs inputs, Tensor& output, RunState&) const {
  std::copy_n(inputs[0].data<float>(), inputs[0].elements(), output.data<float>());
}

}  // namespace lessons
