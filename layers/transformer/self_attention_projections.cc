#include "encdec/layers/transformer/self_attention_projections.h"

#include <array>

#include "encdec/layers/transformer/expectations.h"

namespace encdec {

SelfAttentionProjections::SelfAttentionProjections(const WeightScope& weights, const AttentionOptions& options)
    : options_(options),
      positions_(weights, options),
      query_norm_(weights / "query_norm", options.head_norm, options.head_width()),
      key_norm_(weights / "key_norm", options.head_norm, options.head_width()),
      query_key_value_(std::array{weights / "query", weights / "key", weights / "value"},
                       {.input_width = options.model_dim},
                       std::array{options.bias, options.key_bias.value_or(options.bias), options.bias},
                       std::array{options.inner_dim(), options.key_value_dim(), options.key_value_dim()}),
      output_(weights / "output", options.output_projection()) {}

Shape SelfAttentionProjections::output_shape(Shapes inputs) const {
  return shape_of_rows(inputs, options_.model_dim, options_.model_dim, options_.residual);
}

Tensor SelfAttentionProjections::project(const Tensor& input, RunState& state) const {
  expect_all_rows(state.sequences, input.rows());
  Tensor projected = state.scratch({input.rows(), query_key_value_.output_width()});
  query_key_value_.apply(input, nullptr, projected, state);
  // Normalise before the rotation. Queries and keys are adjacent, so one call rotates both.
  const int key_heads = options_.heads / options_.heads_per_key();
  query_norm_.apply(projected, 0, options_.heads, state);
  key_norm_.apply(projected, options_.inner_dim(), key_heads, state);
  positions_.rotate(projected, options_.heads + key_heads, state);
  return projected;
}

kernels::HeadAttention SelfAttentionProjections::within_sequence(const Sequence& sequence, Tensor& projected,
                                                                 Tensor& attended) const {
  const Dim inner = options_.inner_dim(), head_dim = options_.head_width(), stride = projected.width();
  const float* first = projected.row(sequence.first_row);
  kernels::HeadAttention head{
      .query = first,
      .query_stride = stride,
      .output = attended.row(sequence.first_row),
      .output_stride = inner,
      .keys = {.data = first + inner, .stride = stride, .head_stride = head_dim},
      .values = {.data = first + inner + options_.key_value_dim(), .stride = stride, .head_stride = head_dim},
      .query_count = sequence.rows,
      .key_count = sequence.rows};
  positions_.set(head);  // also sets head.limits
  return head;
}

void SelfAttentionProjections::finish(const Tensor& attended, Inputs inputs, Tensor& output, RunState& state) const {
  output_.apply(attended, options_.residual == Residual::add ? &inputs.back() : nullptr, output, state);
}

}  // namespace encdec
