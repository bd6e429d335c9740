#include "encdec/layers/transformer/multi_head_attention.h"

namespace encdec {

void MultiHeadAttention::forward(Inputs inputs, Tensor& output, RunState& state) const {
  projections_.attend(inputs, output, state, [this](kernels::HeadAttention& head) {
    head.all_queries_in_one_call = true;
    head.in_bfloat16 = in_bfloat16_;
  });
}

}  // namespace encdec
