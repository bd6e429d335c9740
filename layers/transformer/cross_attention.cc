#include "encdec/layers/transformer/cross_attention.h"

#include <array>

#include "encdec/engine/base/error.h"
#include "encdec/engine/kernels/bfloat16_attention.h"
#include "encdec/layers/transformer/expectations.h"

namespace encdec {

CrossAttentionMemory::CrossAttentionMemory(const WeightScope& weights, const AttentionOptions& options)
    : form_(key_value_form_of(options, weights.pack().precision)),
      packed_(packs_memory(options, weights.pack().precision)),
      key_value_(std::array{weights / "key", weights / "value"},
                 {.input_width = options.model_dim, .output_width = options.inner_dim()},
                 std::array{options.key_bias.value_or(options.bias), options.bias}) {}

void CrossAttentionMemory::forward(Inputs inputs, Tensor& output, RunState& state) const {
  expect_all_rows(state.sequences, inputs[0].rows());
  Tensor projected = state.scratch(output.shape());
  key_value_.apply(inputs[0], nullptr, projected, state);
  const int head_dim = static_cast<int>(form_.head_dim);
  const std::size_t row_bytes = static_cast<std::size_t>(head_dim) * size_of(form_.type);
  const Dim stride = projected.width();
  // Parts [0, H) are the keys of each head, parts [H, 2*H) the values.
  state.team().run(2 * form_.heads, [&](int part, int) {
    for (const Sequence& source : state.sequences) {
      if (source.rows == 0) continue;
      std::byte* to = output.raw() + static_cast<std::size_t>(source.first_row) * form_.bytes() +
                      static_cast<std::size_t>(part) * static_cast<std::size_t>(source.rows) * row_bytes;
      const float* from = projected.row(source.first_row) + part * form_.head_dim;
      if (packed_) {
        const auto pack = part < form_.heads ? kernels::pack_bfloat16_keys : kernels::pack_bfloat16_values;
        pack({source.rows, head_dim, head_dim}, from, stride, reinterpret_cast<std::uint16_t*>(to));
        continue;
      }
      for (int row = 0; row < source.rows; ++row, from += stride, to += row_bytes) {
        store_as(form_.type, from, head_dim, to);
      }
    }
  });
}

namespace {

// Merges neighbouring sequences that read the same memory, such as the beams of one source. One load of a key or value
// then serves several of them.
std::span<const Sequence> readers_of_memories(RunState& state) {
  std::vector<Sequence>& readers = state.sequence_scratch();
  readers.clear();
  for (const Sequence& sequence : state.sequences) {
    Sequence* last = readers.empty() ? nullptr : &readers.back();
    if (last != nullptr && last->first_memory_row == sequence.first_memory_row &&
        last->memory_rows == sequence.memory_rows && last->first_row + last->rows == sequence.first_row) {
      last->rows += sequence.rows;
    } else {
      readers.push_back(sequence);
    }
  }
  return readers;
}

}  // namespace

CrossAttention::CrossAttention(const WeightScope& weights, const AttentionOptions& options)
    : options_(options),
      form_(key_value_form_of(options, weights.pack().precision)),
      packed_(packs_memory(options, weights.pack().precision)),
      query_(weights / "query",
             {.input_width = options.model_dim, .output_width = options.inner_dim(), .bias = options.bias}),
      output_(weights / "output", options.output_projection()) {}

Shape CrossAttention::output_shape(Shapes inputs) const {
  if (inputs.size() < 2) throw ShapeError("expected a target and a memory");
  expect_rows(inputs[0], options_.model_dim, "target");
  expect_rows(inputs[1], 2 * options_.inner_dim(), "memory");
  expect_inputs(inputs, 2, options_.residual, inputs[0]);
  return inputs[0];
}

void CrossAttention::forward(Inputs inputs, Tensor& output, RunState& state) const {
  expect_all_rows(state.sequences, inputs[0].rows());
  const Dim inner = options_.inner_dim();
  const Tensor& memory = inputs[1];
  KeyValueForm form = form_;
  form.type = memory.type();  // a draft model (a copy of the decoder) reads its model's memory
  Tensor queries = state.scratch({inputs[0].rows(), inner});
  Tensor attended = state.scratch({inputs[0].rows(), inner});
  query_.apply(inputs[0], nullptr, queries, state);
  attend_heads(options_, readers_of_memories(state), state, [&](const Sequence& sequence) {
    const std::byte* first = memory.raw() + static_cast<std::size_t>(sequence.first_memory_row) * form.bytes();
    const kernels::AttentionRows keys{
        .data = first,
        .stride = form.head_dim,
        .head_stride = form.head_dim * sequence.memory_rows,
        .form = packed_ && form.type == DataType::bfloat16 ? kernels::RowForm::packed : kernels::row_form(form.type)};
    kernels::AttentionRows values = keys;
    values.data = first + static_cast<std::size_t>(sequence.memory_rows) * form.bytes() / 2;
    return kernels::HeadAttention{.query = queries.row(sequence.first_row),
                                  .query_stride = inner,
                                  .output = attended.row(sequence.first_row),
                                  .output_stride = inner,
                                  .keys = keys,
                                  .values = values,
                                  .query_count = sequence.rows,
                                  .key_count = sequence.memory_rows};
  });
  output_.apply(attended, options_.residual == Residual::add ? &inputs[2] : nullptr, output, state);
}

}  // namespace encdec
