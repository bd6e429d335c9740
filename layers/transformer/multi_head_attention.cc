#include "encdec/layers/transformer/multi_head_attention.h"

namespace encdec {

void MultiHeadAttention::forward(Inputs inputs, Tensor& output, RunState& state) const {
  if (state.stream) return attend_to_chunk(inputs, output, state);
  projections_.attend(inputs, output, state, [this](kernels::HeadAttention& head) { head.queries = queries_; });
}

}  // namespace encdec
