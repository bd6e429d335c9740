#include "long_inputs/memory_compressed_attention.h"

#include "encdec/engine/base/error.h"
#include "long_inputs/expect_no_past.h"

namespace lessons {
namespace {

// Returns `options`. Throws ConfigError for options that this layer does not support.
const AttentionOptions& checked(const AttentionOptions& options) {
  if (options.relative_positions.buckets > 0) {
    throw ConfigError("memory_compressed_attention: relative positions, expected none: its keys have no positions");
  }
  if (options.heads_per_key() != 1) throw ConfigError("memory_compressed_attention: shared keys, expected none");
  return options;
}

// Returns the options of the convolutions of keys and of values.
Convolution1dOptions convolution_options(const MemoryCompressedAttentionOptions& options) {
  const Dim inner = options.attention.inner_dim();
  return {.input_width = inner,
          .output_width = inner,
          .kernel = options.kernel,
          .stride = options.stride,
          .bias = options.convolution_bias};
}

}  // namespace

MemoryCompressedAttention::MemoryCompressedAttention(const WeightScope& weights,
                                                     const MemoryCompressedAttentionOptions& options)
    : options_(checked(options.attention)),
      projections_(weights, options.attention),
      key_convolution_(weights / "key_convolution", convolution_options(options)),
      value_convolution_(weights / "value_convolution", convolution_options(options)) {}

void MemoryCompressedAttention::forward(Inputs inputs, Tensor& output, RunState& state) const {
  expect_no_past(state.sequences, kind());
  const Dim inner = options_.inner_dim(), head_dim = options_.head_width();
  // Project, then shorten keys and values; they begin at columns `inner` and 2 * `inner`.
  Tensor projected = projections_.project(inputs[0], state);
  const Tensor keys = key_convolution_.convolve(projected, inner, state);
  const Tensor values = value_convolution_.convolve(projected, 2 * inner, state);
  Tensor attended = state.scratch({inputs[0].rows(), inner});

  // Find the shortened rows of each sequence.
  std::vector<Sequence>& sequences = state.sequence_scratch();
  sequences.assign(state.sequences.begin(), state.sequences.end());
  int first_source_row = 0;
  for (Sequence& sequence : sequences) {
    sequence.first_source_row = first_source_row;
    sequence.source_rows = key_convolution_.output_positions(sequence.rows);
    first_source_row += sequence.source_rows;
  }
  attend_heads(options_, sequences, state, [&](const Sequence& sequence) {
    kernels::HeadAttention head = projections_.within_sequence(sequence, projected, attended);
    head.keys = {.data = keys.row(sequence.first_source_row), .stride = inner, .head_stride = head_dim};
    head.values = {.data = values.row(sequence.first_source_row), .stride = inner, .head_stride = head_dim};
    head.key_count = sequence.source_rows;
    return head;
  });
  projections_.finish(attended, inputs, output, state);
}

}  // namespace lessons
