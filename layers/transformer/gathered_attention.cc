#include "encdec/layers/transformer/gathered_attention.h"

#include <array>

#include "encdec/layers/transformer/expectations.h"

namespace encdec {

GatheredAttention::GatheredAttention(const WeightScope& weights, const AttentionOptions& options)
    : options_(options),
      positions_(weights, options),
      queries_(all_queries(weights.pack().precision)),
      query_(weights / "query",
             {.input_width = options.model_dim, .output_width = options.inner_dim(), .bias = options.bias}),
      key_value_(std::array{weights / "key", weights / "value"},
                 {.input_width = options.model_dim, .output_width = options.key_value_dim()},
                 std::array{options.key_bias.value_or(options.bias), options.bias}),
      output_(weights / "output", options.output_projection()) {}

Shape GatheredAttention::output_shape(Shapes inputs) const {
  expect_count(inputs, options_.residual == Residual::add ? 3 : 2);
  expect_rows(inputs[1], options_.model_dim, "input");
  expect_rows(inputs[0], options_.model_dim, "gathered rows");
  expect_inputs(inputs, 2, options_.residual, inputs[0]);
  return inputs[0];
}

void GatheredAttention::forward(Inputs inputs, Tensor& output, RunState& state) const {
  const Tensor &gathered = inputs[0], &all = inputs[1];
  expect_all_rows(state.sequences, all.rows());
  const Dim inner = options_.inner_dim(), width = options_.key_value_dim(), head_dim = options_.head_width();
  Tensor query = state.scratch({gathered.rows(), inner});
  Tensor key_value = state.scratch({all.rows(), 2 * width});
  Tensor attended = state.scratch({gathered.rows(), inner});
  query_.apply(gathered, nullptr, query, state);
  key_value_.apply(all, nullptr, key_value, state);
  const bool has_all = gathered.rows() == all.rows();
  if (has_all) positions_.rotate(query, options_.heads, state);  // otherwise all queries have position 0
  positions_.rotate(key_value, options_.heads / options_.heads_per_key(), state);
  attend_heads(options_, state.sequences, state, [&](const Sequence& sequence) {
    // Unless all rows are gathered, row i of `gathered` is the first row of sequence i.
    const Dim first = has_all ? sequence.first_row : &sequence - state.sequences.data();
    const float* keys = key_value.row(sequence.first_row);
    kernels::HeadAttention head{.query = query.row(first),
                                .query_stride = inner,
                                .output = attended.row(first),
                                .output_stride = inner,
                                .keys = {.data = keys, .stride = 2 * width, .head_stride = head_dim},
                                .values = {.data = keys + width, .stride = 2 * width, .head_stride = head_dim},
                                .query_count = has_all ? sequence.rows : 1,
                                .key_count = sequence.rows,
                                .first_position = 0,
                                .queries = queries_};
    positions_.set(head);
    return head;
  });
  output_.apply(attended, options_.residual == Residual::add ? &inputs.back() : nullptr, output, state);
}

}  // namespace encdec
