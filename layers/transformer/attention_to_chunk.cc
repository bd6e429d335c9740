// Implements MultiHeadAttention for a sequence that arrives in chunks; see StreamChunk.
#include <algorithm>
#include <array>

#include "encdec/layers/transformer/multi_head_attention.h"

namespace encdec {

void MultiHeadAttention::attend_to_chunk(Inputs inputs, Tensor& output, RunState& state) const {
  const Tensor projected = projections_.project(inputs[0], state);
  const Dim rows = output.rows(), inner = options_.inner_dim(), width = projected.width() + output.width();
  const Dim before = options_.limits.before, after = options_.limits.after, kept = before + after;
  // `recent` holds the rows that the queries of this chunk may see: `kept` rows of previous chunks, then the new rows.
  // Each row holds queries, keys, values and residual. The first query is in row `before`.
  Tensor recent = state.scratch({kept + rows, width});
  std::vector<float>& carried = state.carried();
  // Before the first chunk, `carried` is empty. resize() fills it with zeros.
  carried.resize(static_cast<std::size_t>(kept * width));
  std::ranges::copy(carried, recent.data<float>());
  for (Dim row = 0; row < rows; ++row) {
    float* residual = std::copy_n(projected.row(row), projected.width(), recent.row(kept + row));
    std::copy_n(inputs.back().row(row), output.width(), residual);
  }
  std::copy_n(recent.data<float>() + rows * width, carried.size(), carried.begin());

  // The output is late: the first query is `after` rows before the first new row. Ignore keys outside [begin, end) and
  // queries outside [query, query_end), which are outside the sequence.
  StreamChunk& chunk = *state.stream;
  chunk.first -= static_cast<int>(after);
  const Dim first = chunk.first;  // position of the first query
  const Dim begin = std::max<Dim>(before - first, 0), end = std::min(kept + rows, chunk.end - first + before);  // keys
  const Dim query = std::clamp<Dim>(-first, 0, rows), query_end = std::clamp<Dim>(chunk.end - first, query, rows);
  // The residual is late by the same number of rows.
  Tensor attended = state.scratch({rows, inner}), residual = state.scratch(output.shape());
  std::fill_n(attended.data<float>(), attended.elements(), 0.0f);
  for (Dim row = 0; row < rows; ++row) {
    std::copy_n(recent.row(before + row) + projected.width(), output.width(), residual.row(row));
  }
  if (query < query_end) {
    // Queries and keys are views of `recent`.
    attend_heads(options_, state.sequences, state, [&](const Sequence& /*sequence*/) {
      const float* key = recent.row(begin) + inner;
      kernels::HeadAttention head{
          .query = recent.row(before + query),
          .query_stride = width,
          .output = attended.row(query),
          .output_stride = inner,
          .keys = {.data = key, .stride = width, .head_stride = options_.head_width()},
          .values = {.data = key + options_.key_value_dim(), .stride = width, .head_stride = options_.head_width()},
          .query_count = static_cast<int>(query_end - query),
          .key_count = static_cast<int>(end - begin),
          .first_position = static_cast<int>(before + query - begin)};
      projections_.positions().set(head);
      return head;
    });
  }
  projections_.finish(attended, std::array{inputs[0], residual}, output, state);
}

}  // namespace encdec
