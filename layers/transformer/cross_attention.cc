#include "encdec/layers/transformer/cross_attention.h"

#include <array>

#include "encdec/engine/base/error.h"
#include "encdec/engine/kernels/bfloat16_attention.h"
#include "encdec/layers/transformer/expectations.h"

namespace encdec {

CrossAttentionKeyValues::CrossAttentionKeyValues(const WeightScope& weights, const AttentionOptions& options)
    : form_(options, weights.pack().precision),
      key_value_(std::array{weights / "key", weights / "value"},
                 {.input_width = options.encoder_dim == 0 ? options.model_dim : options.encoder_dim,
                  .output_width = options.key_value_dim()},
                 std::array{options.key_bias.value_or(options.bias), options.bias}),
      key_norm_(weights / "key_norm", options.head_norm, options.head_width()) {}

void CrossAttentionKeyValues::forward(Inputs inputs, Tensor& output, RunState& state) const {
  expect_all_rows(state.sequences, inputs[0].rows());
  // Project to rows of keys and values, then reorder them by source and head.
  Tensor projected = state.scratch(output.shape());
  key_value_.apply(inputs[0], nullptr, projected, state);
  const KeyValueLayout& form = form_.rows;
  key_norm_.apply(projected, 0, form.heads, state);
  const int head_dim = static_cast<int>(form.head_dim);
  const std::size_t row_bytes = static_cast<std::size_t>(head_dim) * size_of(form.type);
  const Dim stride = projected.width();
  // Parts [0, G) are the keys of the G heads. Parts [G, 2*G) are their values.
  state.team().run(2 * form.heads, [&](int part, int) {
    for (const Sequence& source : state.sequences) {
      if (source.rows == 0) continue;
      std::byte* to = output.raw() + static_cast<std::size_t>(source.first_row) * form.bytes() +
                      static_cast<std::size_t>(part) * static_cast<std::size_t>(source.rows) * row_bytes;
      const float* from = projected.row(source.first_row) + part * form.head_dim;
      // Pack the keys or values of one head and one source at a time.
      if (form_.is_packed) {
        const auto pack = part < form.heads ? kernels::pack_bfloat16_keys : kernels::pack_bfloat16_values;
        pack({source.rows, head_dim, head_dim}, from, stride, reinterpret_cast<std::uint16_t*>(to));
        continue;
      }
      for (int row = 0; row < source.rows; ++row, from += stride, to += row_bytes) {
        store_as(form.type, from, head_dim, to);
      }
    }
  });
}

CrossAttention::CrossAttention(const WeightScope& weights, const AttentionOptions& options)
    : options_(options),
      form_(options, weights.pack().precision),
      query_(weights / "query",
             {.input_width = options.model_dim, .output_width = options.inner_dim(), .bias = options.bias}),
      query_norm_(weights / "query_norm", options.head_norm, options.head_width()),
      output_(weights / "output", options.output_projection()) {}

Shape CrossAttention::output_shape(Shapes inputs) const {
  if (inputs.size() < 2) throw ShapeError("expected a target and a key/value input");
  expect_rows(inputs[0], options_.model_dim, "target");
  expect_rows(inputs[1], 2 * options_.key_value_dim(), "key/value input");
  expect_inputs(inputs, 2, options_.residual, inputs[0]);
  return inputs[0];
}

void CrossAttention::forward(Inputs inputs, Tensor& output, RunState& state) const {
  expect_all_rows(state.sequences, inputs[0].rows());
  const Dim inner = options_.inner_dim();
  Tensor queries = state.scratch({inputs[0].rows(), inner});
  Tensor attended = state.scratch({inputs[0].rows(), inner});
  query_.apply(inputs[0], nullptr, queries, state);
  query_norm_.apply(queries, 0, options_.heads, state);
  // Beams of one source share the loads of the keys and values of this source.
  attend_heads(options_, sequences_with_sources(state), state, [&](const Sequence& sequence) {
    kernels::HeadAttention head = form_.attention(inputs[1], sequence);
    head.query = queries.row(sequence.first_row), head.query_stride = inner;
    head.output = attended.row(sequence.first_row), head.output_stride = inner;
    return head;
  });
  output_.apply(attended, options_.residual == Residual::add ? &inputs[2] : nullptr, output, state);
}

}  // namespace encdec
