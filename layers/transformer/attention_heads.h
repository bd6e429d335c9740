#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "encdec/engine/kernels/attention.h"
#include "encdec/engine/run_state.h"
#include "encdec/layers/transformer/linear.h"
#include "encdec/layers/transformer/relative_position_bias.h"

namespace encdec {

// What multi-head, masked and cross-attention have in common.
struct AttentionOptions {
  Dim model_dim = 0;                   // D
  int heads = 1;                       // H
  Dim head_dim = 0;                    // K; 0 means D / H
  Bias bias = Bias::required;          // of all projections
  Bias key_bias = bias;                // of the keys', where they differ
  Residual residual = Residual::none;  // whether the last input is added to the output
  float score_scale = 0.0f;  // scores are multiplied by it; 0 means K^-0.5 (Vaswani et al. 2017, section 3.2.1)
  RelativePositions relative_positions = {};  // of self-attention

  // Width of all heads together, H * K. Throws ShapeError if D is not a multiple of H and head_dim is 0.
  Dim inner_dim() const;
  // What scores are multiplied by, also where score_scale is 0.
  float scale() const { return score_scale != 0 ? score_scale : 1.0f / std::sqrt(static_cast<float>(head_width())); }
  // K, also where head_dim is 0.
  Dim head_width() const { return inner_dim() / heads; }
};

// The form of keys and values in such attentions, for matmuls of that precision.
KeyValueForm key_value_form_of(const AttentionOptions& options, Precision precision);

// Whether the keys and values of cross-attentions are packed once per source: where encoders attend in bfloat16 too,
// and packed ones take no more room.
bool packs_memory(const AttentionOptions& options, Precision precision);

// Tells an observer what attend() has left in head.weights.
void tell_attention(const kernels::HeadAttention& head, int first_row, int number, const AttentionObserver& observer);

// Runs every head of every sequence, shared out among the team. `describe(sequence)` gives the attention of the
// sequence's first head as a kernels::HeadAttention without head_dim and scale, nor value_dim unless it is another; the
// other heads' queries and outputs lie beside it, and their biases behind its own.
template <class Describe>
void attend_heads(const AttentionOptions& options, std::span<const Sequence> sequences, RunState& state,
                  const Describe& describe) {
  const int head_dim = static_cast<int>(options.head_width());
  const int items = static_cast<int>(sequences.size()) * options.heads;
  const AttentionObserver& observer = state.attention_observer();
  // A few parts for each thread, so that long and short sequences even out.
  const int parts = observer || state.team().size() == 1 ? 1 : std::min(items, 4 * state.team().size());
  state.team().run(parts, [&](int part, int thread) {
    for (int item = part * items / parts; item < (part + 1) * items / parts; ++item) {
      const Sequence& sequence = sequences[static_cast<std::size_t>(item / options.heads)];
      kernels::HeadAttention head = describe(sequence);
      const int number = item % options.heads;
      head.query += number * head_dim;
      head.keys = head.keys.of_head(number);
      head.values = head.values.of_head(number);
      head.head_dim = head_dim;
      if (head.value_dim == 0) head.value_dim = head_dim;
      head.output += number * head.value_dim;
      head.scale = options.scale();
      if (head.relative_bias != nullptr) head.relative_bias += number * (2 * head.bias_reach + 1);
      const std::size_t scratch = kernels::attention_scratch(head);
      const std::size_t told =  // weights for the observer, behind the scratch
          observer ? static_cast<std::size_t>(head.query_count) * static_cast<std::size_t>(head.key_count) : 0;
      float* memory = state.thread_scratch(thread, scratch + told);
      if (observer) head.weights = memory + scratch;
      kernels::attend(head, memory);
      if (observer) tell_attention(head, sequence.first_row, number, observer);
    }
  });
}

}  // namespace encdec
