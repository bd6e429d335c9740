#pragma once

#include <memory>
#include <span>
#include <vector>

#include "universal_transformer/universal_transformer.h"

namespace lessons {
using namespace encdec;

// The loop of a Universal Transformer: applies one block again and again to the states, each time with the next step
// number.
// In a decoder each step has its own RunState, and so its own key/value cache: at step t a row attends to the states
// that earlier rows had at step t.
// A sequence's result does not depend, bit by bit, on other sequences, even if those take more steps. Sequences that
// have halted leave the batch. After the first runs nothing is allocated.
class DepthRecurrence {
 public:
  // The first step has the number `first_step`. REQUIRES: `block` outlives this object.
  DepthRecurrence(const Executor& block, const UniversalStackConfig& stack, int first_step,
                  const std::shared_ptr<ThreadTeam>& team);

  // End of a run with adaptive halting.
  enum class End {
    all_halted,  // a sequence stops when all its rows have halted
    all_steps,   // all steps run, so that later rows can attend to these rows at every step
  };

  // Result of a run.
  struct Result {
    Tensor hidden;                          // last states [R, D]; with adaptive halting weighted means
    std::span<const std::int32_t> updates;  // number of steps that each row took
    std::span<const float> remainders;      // AdaptiveHalting::remainders(); zeros without halting
    int steps = 0;                          // number of times that the block ran
  };

  // Runs the loop from the states `embedded`, which are H_0. `key_values` is the block's third input; null for
  // a block with two inputs. The result is valid until the next run().
  Result run(const Tensor& embedded, std::span<const Sequence> sequences, const Tensor* key_values, End end);

  // Opens a slot in the cache of each step. Returns its number, which is the same in all caches; see CacheIndex.
  int open_slot();
  // Appends `count` positions to a slot, in all caches.
  void append(int slot, int count);
  // Closes all slots, in all caches.
  void close_all_slots();
  // Returns the number of positions in a slot, the same in all caches.
  int length(int slot) const { return states_of_steps_.front().cache_index.length(slot); }

 private:
  // A sequence that is still in the loop.
  struct Active {
    Sequence sequence;  // its first_row is a row of states_
    int first_row = 0;  // first row in result_
  };

  void begin(const Tensor& embedded, std::span<const Sequence> sequences);
  std::span<const Tensor> run_block(int step, const Tensor* key_values);
  void take(std::span<const Tensor> outputs);
  void drop_halted();

  const Executor& block_;
  UniversalStackConfig stack_;
  int first_step_;
  std::vector<RunState> states_of_steps_;  // one for each step; only one if the block caches nothing
  AdaptiveHalting halting_;
  std::vector<Active> active_;
  std::int64_t active_rows_ = 0;
  std::vector<Tensor> inputs_;
  std::int32_t step_ = 0;  // second input of the block
  Tensor states_;          // states of the active rows, one sequence after another; may have more rows
  Tensor result_;          // results of all rows; may have more rows
};

}  // namespace lessons
