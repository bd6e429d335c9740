#include "encdec/layers/transformer/attention_positions.h"

namespace encdec {

AttentionPositions::AttentionPositions(const WeightScope& weights, const AttentionOptions& options)
    : limits_(options.limits), rotary_(options.rotary, options.head_width()) {
  if (options.relative_positions.buckets > 0) {
    bias_ = RelativePositionBias(weights / "relative_position_bias", options.relative_positions, options.heads);
  }
  if (options.disentangled_positions.span > 0) {
    disentangled_ = DisentangledPositions(weights, options.disentangled_positions, options.model_dim, options.heads,
                                          options.head_width());
  }
}

void AttentionPositions::set(kernels::HeadAttention& head) const {
  head.limits = limits_;
  head.relative_bias = bias_.of_head(0);
  head.bias_reach = bias_.reach();
  head.distance_keys = disentangled_.keys();
  head.distance_queries = disentangled_.queries();
}

}  // namespace encdec
