#include "encdec/layers/transformer/attention_heads.h"

#include <fmt/format.h>

#include "encdec/engine/base/error.h"
#include "encdec/engine/kernels/bfloat16_attention.h"

namespace encdec {

Dim AttentionOptions::inner_dim() const {
  // If head_dim is 0, the heads share model_dim equally.
  if (heads < 1 || (head_dim == 0 && model_dim % heads != 0)) {
    throw ShapeError(fmt::format("{} attention heads do not divide the model dimension {}", heads, model_dim));
  }
  if (key_value_heads < 0 || (key_value_heads > 0 && heads % key_value_heads != 0)) {
    throw ShapeError(fmt::format("{} key/value heads do not divide {} attention heads", key_value_heads, heads));
  }
  return head_dim == 0 ? model_dim : heads * head_dim;
}

KeyValueLayout key_value_layout_of(const AttentionOptions& options, Precision precision) {
  return {.heads = options.heads / options.heads_per_key(),
          .head_dim = options.head_width(),
          .type = key_value_type(precision)};
}

bool packs_key_values(const AttentionOptions& options, Precision precision) {
  return attends_in_bfloat16(precision) && options.head_width() % 2 == 0 &&
         options.head_width() <= kernels::Bfloat16Head::kLargestDim;
}

void report_attention(const kernels::HeadAttention& head, int first_row, int number,
                      const AttentionObserver& observer) {
  for (int i = 0; i < head.query_count; ++i) {
    // Report only visible keys, because other keys have no weights.
    const kernels::KeyRange seen = kernels::keys_seen(head, i);
    const float* weights = head.weights + static_cast<std::ptrdiff_t>(i) * head.key_count + seen.first;
    observer({.row = first_row + i,
              .head = number,
              .first_key = seen.first,
              .weights = {weights, static_cast<std::size_t>(seen.count())}});
  }
}

}  // namespace encdec
