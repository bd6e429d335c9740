#pragma once

#include <algorithm>
#include <span>

#include "encdec/engine/kernels/attention.h"
#include "encdec/engine/run_state.h"
#include "encdec/layers/transformer/attention_options.h"

namespace encdec {

// Returns whether the keys and values of cross-attentions are stored in packed bfloat16 order; see
// CrossAttentionMemory. They are if encoders attend in bfloat16, K is at most 256, and K is even (an odd K would need
// padding).
bool packs_memory(const AttentionOptions& options, Precision precision);

// Returns how encoders attend, which pass all rows of a sequence at once.
inline kernels::QuerySet all_queries(Precision precision) {
  return attends_in_bfloat16(precision) ? kernels::QuerySet::all_in_bfloat16 : kernels::QuerySet::all;
}

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
                  const Describe& describe,
                  const AttentionObserver* of_caller = nullptr) {  // null: the observer of the running node
  const AttentionObserver& observer = of_caller != nullptr ? *of_caller : state.attention_observer();
  const int head_dim = static_cast<int>(options.head_width());
  // In a step, heads that share keys are queries of one call, which reads each key once.
  const bool is_step = !observer && options.relative_positions.buckets == 0 &&
                       std::ranges::all_of(sequences, [](const Sequence& sequence) { return sequence.rows == 1; });
  const int at_once = is_step ? options.heads_per_key() : 1, calls = options.heads / at_once;
  const int items = static_cast<int>(sequences.size()) * calls;
  // Four parts for each thread, since sequences differ in length. With an observer one part, so that one thread calls
  // the observer.
  const int parts = observer || state.team().size() == 1 ? 1 : std::min(items, 4 * state.team().size());
  state.team().run(parts, [&](int part, int thread) {
    for (int item = part * items / parts; item < (part + 1) * items / parts; ++item) {
      const Sequence& sequence = sequences[static_cast<std::size_t>(item / calls)];
      kernels::HeadAttention head = describe(sequence);
      const int number = item % calls * at_once;
      head.query += number * head_dim;
      head.keys = head.keys.of_head(number / options.heads_per_key());
      head.values = head.values.of_head(number / options.heads_per_key());
      head.head_dim = head_dim;
      if (head.value_dim == 0) head.value_dim = head_dim;
      head.output += number * head.value_dim;
      if (at_once > 1) {
        head.first_position = head.position_of(0), head.position_step = 0, head.query_count = at_once;
        head.query_stride = head_dim, head.output_stride = head.value_dim, head.log_sums_stride = 1;
      }
      head.scale = options.scale();
      head.score_cap = options.score_cap;
      head.distance_keys = head.distance_keys.of_head(number);
      head.distance_queries = head.distance_queries.of_head(number);
      if (head.log_sums != nullptr) head.log_sums += number;
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
