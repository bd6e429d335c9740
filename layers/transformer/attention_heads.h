#pragma once

#include <algorithm>
#include <span>

#include "encdec/engine/kernels/attention.h"
#include "encdec/engine/run_state.h"
#include "encdec/layers/transformer/attention_options.h"

namespace encdec {

// Returns true if cross-attention stores keys and values in packed bfloat16 order
// (CrossAttentionKeyValues): if encoders attend in bfloat16, and the head width is even and at most 256.
bool packs_key_values(const AttentionOptions& options, Precision precision);

// Returns the query set of encoders, which pass all rows of a sequence at once.
inline kernels::QuerySet all_queries(Precision precision) {
  return attends_in_bfloat16(precision) ? kernels::QuerySet::all_in_bfloat16 : kernels::QuerySet::all;
}

// Passes the weights that attend() wrote to head.weights to `observer`, query by query.
//   first_row: row of the first query among all rows of the run
//   number: index of the head
void report_attention(const kernels::HeadAttention& head, int first_row, int number, const AttentionObserver& observer);

// Computes attention for each head of each sequence, on the threads of the team.
// describe(sequence) returns the HeadAttention of the sequence's first head, without head_dim and
// scale. If its value_dim is 0, head_dim is used.
// From head to head, queries advance by head_dim, outputs by value_dim, bias tables by their size.
template <class Describe>
void attend_heads(const AttentionOptions& options, std::span<const Sequence> sequences, RunState& state,
                  const Describe& describe,
                  const AttentionObserver* of_caller = nullptr) {  // null: the node's observer
  const AttentionObserver& observer = of_caller != nullptr ? *of_caller : state.attention_observer();
  const int head_dim = static_cast<int>(options.head_width());
  // In a decoding step, heads that share keys become queries of one call, so that the keys are read once.
  const bool is_step = !observer && options.relative_positions.buckets == 0 &&
                       std::ranges::all_of(sequences, [](const Sequence& sequence) { return sequence.rows == 1; });
  const int at_once = is_step ? options.heads_per_key() : 1, calls = options.heads / at_once;
  const int items = static_cast<int>(sequences.size()) * calls;
  // Use four parts per thread, because sequences differ in length. Use one part if there is an observer, which must be
  // called by one thread.
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
      const std::size_t observer_floats =  // for the observer's weights, after the scratch memory
          observer ? static_cast<std::size_t>(head.query_count) * static_cast<std::size_t>(head.key_count) : 0;
      float* memory = state.thread_scratch(thread, scratch + observer_floats);
      if (observer) head.weights = memory + scratch;
      kernels::attend(head, memory);
      if (observer) report_attention(head, sequence.first_row, number, observer);
    }
  });
}

}  // namespace encdec
