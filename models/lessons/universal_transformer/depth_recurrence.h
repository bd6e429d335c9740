#pragma once

#include <memory>
#include <span>
#include <vector>

#include "encdec/models/lessons/universal_transformer/universal_transformer.h"

namespace encdec {

// The loop of a Universal Transformer: applies one block to states again and again, with another step each time. Each
// step of a decoder has a RunState, and so a key/value cache, of its own: at step t a row attends to what the rows
// before it were at step t. A sequence's result does not depend on its neighbours, bit by bit, also where they halt
// later; sequences that have halted leave the batch. After the first runs nothing is allocated.
class DepthRecurrence {
 public:
  // The block must outlive it.
  DepthRecurrence(const Executor& block, const UniversalStackConfig& stack, int first_step,
                  const std::shared_ptr<ThreadTeam>& team);

  // When a run with adaptive halting ends.
  enum class End {
    all_halted,  // for each sequence, when all its rows have halted
    all_steps,   // never early: the caches of all steps get the rows, and later rows can attend to them
  };

  // What became of the rows of a run.
  struct Result {
    Tensor hidden;                          // last states [R, D]: weighted means with adaptive halting
    std::span<const std::int32_t> updates;  // by row: the steps that it took
    std::span<const float> remainders;      // by row: AdaptiveHalting's; zeros without
    int steps = 0;                          // how often the block ran
  };

  // `embedded` is H_0; `memory` is the block's third input, null if it has none. What it returns is valid until the
  // next run.
  Result run(const Tensor& embedded, std::span<const Sequence> sequences, const Tensor* memory, End end);

  // The caches of all steps, which have the same slots: CacheIndex's functions.
  int open_slot();
  void append(int slot, int count);                                                         // in all caches
  void close_all_slots();                                                                   // in all caches
  int length(int slot) const { return states_of_steps_.front().cache_index.length(slot); }  // the same in all caches

 private:
  // Rows that are still in the loop: a sequence, and where its rows are in the result.
  struct Active {
    Sequence sequence;  // first_row: in states_
    int first_row = 0;
  };

  void begin(const Tensor& embedded, std::span<const Sequence> sequences);
  std::span<const Tensor> run_block(int step, const Tensor* memory);
  void take(std::span<const Tensor> outputs);
  void drop_halted();

  const Executor& block_;
  UniversalStackConfig stack_;
  int first_step_;
  std::vector<RunState> states_of_steps_;  // one for all where nothing is kept
  AdaptiveHalting halting_;
  std::vector<Active> active_;
  std::int64_t active_rows_ = 0;
  std::vector<Tensor> inputs_;
  std::int32_t step_ = 0;  // the block's second input
  Tensor states_;          // of the active rows, one sequence after another; capacity for more
  Tensor result_;          // of all rows; likewise
};

}  // namespace encdec
