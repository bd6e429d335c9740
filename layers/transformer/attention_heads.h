#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "encdec/engine/kernels/attention.h"
#include "encdec/engine/run_state.h"
#include "encdec/layers/transformer/disentangled_positions.h"
#include "encdec/layers/transformer/linear.h"
#include "encdec/layers/transformer/relative_position_bias.h"
#include "encdec/layers/transformer/rotary_positions.h"

namespace encdec {

// Options of multi-head self-attention, masked self-attention and cross-attention.
struct AttentionOptions {
  Dim model_dim = 0;                   // D
  int heads = 1;                       // H
  Dim head_dim = 0;                    // K; 0 means D / H
  Bias bias = Bias::required;          // bias of the query, value and output projections
  std::optional<Bias> key_bias = {};   // bias of the key projection; unset: that of the others
  Residual residual = Residual::none;  // whether the layer adds its last input to its output
  float score_scale = 0.0f;            // factor of the scores; 0 means 1 / sqrt(K) (Vaswani et al. 2017, section 3.2.1)
  // For self-attention only.
  // Heads of keys and values, which groups of heads share (Ainslie et al. 2023): head h reads those of head
  // h / (H / key_value_heads). 0 means H. Only MultiHeadAttention and LocalAttention take another number.
  int key_value_heads = 0;
  RelativePositions relative_positions = {};
  DisentangledOptions disentangled_positions = {};  // not in a decoder
  RotaryOptions rotary = {};
  int window = std::numeric_limits<int>::max();  // maximum distance of the keys that a query sees, on either side
  std::optional<int> ahead = {};                 // maximum distance of the keys after a query; unset: `window`
  bool causal = false;  // whether a query sees no key after its own position; MaskedDecoderAttention always is

  // Returns H * K, the width of all heads together. Throws ShapeError if H is less than 1 or not a multiple of
  // key_value_heads, or if head_dim is 0 and D is not a multiple of H.
  Dim inner_dim() const;
  // Returns the number of heads that read the same keys and values.
  int heads_per_key() const { return key_value_heads == 0 ? 1 : heads / key_value_heads; }
  // Returns the width of the keys of all heads together, which is that of the values.
  Dim key_value_dim() const { return inner_dim() / heads_per_key(); }
  // Returns the factor of the scores: score_scale, or 1 / sqrt(K) if that is 0.
  float scale() const { return score_scale != 0 ? score_scale : 1.0f / std::sqrt(static_cast<float>(head_width())); }
  // Returns K: head_dim, or D / H if that is 0.
  Dim head_width() const { return inner_dim() / heads; }
  // Returns the options of the output projection, H*K -> D.
  LinearOptions output_projection() const {
    return {.input_width = inner_dim(), .output_width = model_dim, .bias = bias, .residual = residual};
  }
};

// Returns the form in which an attention with these options keeps keys and values, for matmuls of `precision`. Throws
// ShapeError if heads share keys.
KeyValueForm key_value_form_of(const AttentionOptions& options, Precision precision);

// Returns whether the keys and values of cross-attentions are stored in packed bfloat16 order; see
// CrossAttentionMemory. They are if encoders attend in bfloat16, K is at most 256, and K is even (an odd K would need
// padding).
bool packs_memory(const AttentionOptions& options, Precision precision);

// Calls `observer` with the weights that attend() left in head.weights, query by query.
//   first_row: row of the first query among all rows of the run
//   number: number of the head
void report_attention(const kernels::HeadAttention& head, int first_row, int number, const AttentionObserver& observer);

// Computes attention for every head of every sequence; the threads of the team share the work.
// describe(sequence) returns the kernels::HeadAttention of the sequence's first head, without head_dim and scale. It
// may leave value_dim at 0, which stands for head_dim.
// The queries of head h lie h * head_dim floats after those of head 0, and its outputs h * value_dim floats after. The
// bias tables of the heads follow each other.
template <class Describe>
void attend_heads(const AttentionOptions& options, std::span<const Sequence> sequences, RunState& state,
                  const Describe& describe) {
  const int head_dim = static_cast<int>(options.head_width());
  const int items = static_cast<int>(sequences.size()) * options.heads;
  const AttentionObserver& observer = state.attention_observer();
  // Four parts for each thread, since sequences differ in length. With an observer one part, so that one thread calls
  // the observer.
  const int parts = observer || state.team().size() == 1 ? 1 : std::min(items, 4 * state.team().size());
  state.team().run(parts, [&](int part, int thread) {
    for (int item = part * items / parts; item < (part + 1) * items / parts; ++item) {
      const Sequence& sequence = sequences[static_cast<std::size_t>(item / options.heads)];
      kernels::HeadAttention head = describe(sequence);
      const int number = item % options.heads;
      head.query += number * head_dim;
      head.keys = head.keys.of_head(number / options.heads_per_key());
      head.values = head.values.of_head(number / options.heads_per_key());
      head.head_dim = head_dim;
      if (head.value_dim == 0) head.value_dim = head_dim;
      head.output += number * head.value_dim;
      head.scale = options.scale();
      head.distance_keys = head.distance_keys.of_head(number);
      head.distance_queries = head.distance_queries.of_head(number);
      if (head.relative_bias != nullptr) head.relative_bias += number * (2 * head.bias_reach + 1);
      const std::size_t scratch = kernels::attention_scratch(head);
      const std::size_t observer_floats =  // floats for the observer's weights, after the scratch
          observer ? static_cast<std::size_t>(head.query_count) * static_cast<std::size_t>(head.key_count) : 0;
      float* memory = state.thread_scratch(thread, scratch + observer_floats);
      if (observer) head.weights = memory + scratch;
      kernels::attend(head, memory);
      if (observer) report_attention(head, sequence.first_row, number, observer);
    }
  });
}

}  // namespace encdec
