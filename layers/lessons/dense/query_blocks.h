#pragma once

#include <algorithm>

#include "encdec/engine/base/shape.h"
#include "encdec/engine/run_state.h"

namespace encdec {

// Layers on dense batches take [B, R, D], or [R, D] for a batch of one.
inline Dim batch_of(const Shape& shape) {
  return shape.rank() == 3 ? shape[0] : 1;
}

// Some neighbouring queries of one member of a dense batch: rows [row, row + count) of all B*Q.
struct QueryBlock {
  static constexpr int kMostQueries = 8;  // in a block

  Dim member = 0;  // of the batch
  Dim row = 0;     // the first, of all B*Q
  int count = 0;   // of rows, kMostQueries at most
};

// The weights of a block's queries, a row each.
struct QueryWeights {
  const QueryBlock& block;  // whose they are
  const float* rows;        // of the block's first query
  Dim stride;               // floats from a row to the next
};

// Calls body(block, thread) until every query of [B, Q, anything] is in a block, shared out among the team where there
// is enough to do: `work` is that of one query, in multiply-adds or moved floats.
template <class Body>
void for_each_query_block(const Shape& queries, Dim work, RunState& state, const Body& body) {
  // Below it the other threads would come too late.
  constexpr Dim kWorkWorthSharing = 65'536;
  const Dim count = queries[-2], blocks = (count + QueryBlock::kMostQueries - 1) / QueryBlock::kMostQueries;
  const Dim all = batch_of(queries) * blocks;
  const bool is_shared = batch_of(queries) * count * work >= kWorkWorthSharing && !state.attention_observer();
  const Dim parts = is_shared ? std::min<Dim>(all, 4 * state.team().size()) : 1;
  state.team().run(static_cast<int>(parts), [&](int part, int thread) {
    for (Dim i = part * all / parts; i < (part + 1) * all / parts; ++i) {
      const Dim first = i % blocks * QueryBlock::kMostQueries;
      body(QueryBlock{.member = i / blocks,
                      .row = i / blocks * count + first,
                      .count = static_cast<int>(std::min<Dim>(QueryBlock::kMostQueries, count - first))},
           thread);
    }
  });
}

}  // namespace encdec
