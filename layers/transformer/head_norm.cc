#include "encdec/layers/transformer/head_norm.h"

#include "encdec/engine/kernels/normalization.h"
#include "encdec/engine/row_sharing.h"

namespace encdec {

HeadNorm::HeadNorm(const WeightScope& weights, const std::optional<NormOptions>& options, Dim head_dim) {
  if (!options) return;
  scale_ = scale_of(weights, *options, head_dim);
  epsilon_ = options->epsilon;
}

void HeadNorm::apply(Tensor& rows, Dim first, int heads, RunState& state) const {
  if (scale_.empty()) return;
  const Dim head_dim = scale_.elements();
  for_each_row(rows, state.team(), [&](int row) {
    float* x = rows.row(row) + first;
    for (int head = 0; head < heads; ++head, x += head_dim) {
      kernels::rms_norm({.input = x,
                         .scale = scale_.data<float>(),
                         .epsilon = epsilon_,
                         .width = static_cast<int>(head_dim),
                         .output = x});
    }
  });
}

}  // namespace encdec
