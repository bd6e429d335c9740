#pragma once

#include <algorithm>

#include "encdec/engine/base/shape.h"
#include "encdec/engine/run_state.h"

namespace encdec {

// Returns B for a dense batch [B, R, D], and 1 for a single member [R, D].
inline Dim batch_of(const Shape& shape) {
  return shape.rank() == 3 ? shape[0] : 1;
}

// A few neighbouring queries of one member of a dense batch: rows [row, row + count) of all B*Q queries.
struct QueryBlock {
  static constexpr int kMaxQueries = 8;  // maximum number of queries in a block

  Dim member = 0;  // index in the batch
  Dim row = 0;     // first query among all B*Q
  int count = 0;   // number of queries, at most kMaxQueries
};

// Attention weights of the queries of a block, one row each.
struct QueryWeights {
  const QueryBlock& block;  // queries that the weights belong to
  const float* rows;        // weights of the block's first query
  Dim stride;               // floats from one row to the next
};

// Splits the queries [B, Q, ...] into blocks and calls body(block, thread) for each. The threads of the team share the
// blocks if there is enough work. `work` is the work for one query, in multiply-adds or moved floats.
template <class Body>
void for_each_query_block(const Shape& queries, Dim work, RunState& state, const Body& body) {
  // Total work below which starting other threads takes longer than they save.
  constexpr Dim kWorkWorthSharing = 65'536;
  const Dim count = queries[-2], blocks = (count + QueryBlock::kMaxQueries - 1) / QueryBlock::kMaxQueries;
  const Dim all = batch_of(queries) * blocks;
  const bool is_shared = batch_of(queries) * count * work >= kWorkWorthSharing && !state.attention_observer();
  const Dim parts = is_shared ? std::min<Dim>(all, 4 * state.team().size()) : 1;
  state.team().run(static_cast<int>(parts), [&](int part, int thread) {
    for (Dim i = part * all / parts; i < (part + 1) * all / parts; ++i) {
      const Dim first = i % blocks * QueryBlock::kMaxQueries;
      body(QueryBlock{.member = i / blocks,
                      .row = i / blocks * count + first,
                      .count = static_cast<int>(std::min<Dim>(QueryBlock::kMaxQueries, count - first))},
           thread);
    }
  });
}

}  // namespace encdec
