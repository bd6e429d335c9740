#include "inputs/one_hot.h"

#include <fmt/format.h>

#include <algorithm>

#include "encdec/engine/base/error.h"
#include "encdec/layers/transformer/expectations.h"

namespace lessons {

OneHot::OneHot(Dim vocabulary) : vocabulary_(vocabulary) {
  if (vocabulary < 1)
    throw ConfigError(fmt::format("one_hot: a vocabulary of {} tokens, expected at least 1", vocabulary));
}

Shape OneHot::output_shape(Shapes inputs) const {
  expect_token_ids(inputs);
  return {inputs[0][0], vocabulary_};
}

void OneHot::forward(Inputs inputs, Tensor& output, RunState&) const {
  expect_integers(inputs[0], "token ids");
  const auto* ids = inputs[0].data<std::int32_t>();
  std::fill_n(output.data<float>(), output.elements(), 0.0f);
  for (std::int64_t r = 0; r < inputs[0].elements(); ++r) {
    expect_token_id(ids[r], vocabulary_);
    output.row(r)[ids[r]] = 1.0f;
  }
}

}  // namespace lessons
