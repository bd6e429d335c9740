#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "encdec/engine/base/tensor.h"
#include "encdec/engine/graph.h"
#include "encdec/engine/key_value_cache.h"
#include "encdec/engine/thread_team.h"

namespace encdec {

namespace backend {
class MatMulPrimitives;
}

// One sequence of a run: which packed rows are its own, what came before, and what it may look at.
struct Sequence {
  int first_row = 0;     // its rows of this run: [first_row, first_row + rows)
  int rows = 0;          // a whole source, a whole target, or the 1 token of a decoding step
  int past = 0;          // positions before the first of these rows
  int slot = -1;         // of the cache index; -1 where nothing is cached
  int memory_first = 0;  // rows of another input that it may look at: [memory_first, memory_first + memory_rows)
  int memory_rows = 0;   // none where there is no other input
};

// Throws InputError unless these sequences have so many rows together: a layer that reads sequences would leave rows
// out.
void expect_all_rows(std::span<const Sequence> sequences, Dim rows);

// Called with a node and its output when the node has run: the way to see inside a graph. Node by node in order.
using NodeObserver = std::function<void(const Graph::Node& node, const Tensor& output)>;

// How one row of an attention node, by one of its heads, divides its attention among the keys that it sees: the
// softmax.
struct AttentionWeights {
  int row = 0;                     // of all packed rows of the run
  int head = 0;                    // counted from 0
  int first_key = 0;               // of those; the others' weights are zero
  std::span<const float> weights;  // of keys [first_key, first_key + size), 1 together
};

// Called with the attention of each row and head of a node, when they are computed.
using AttentionObserver = std::function<void(const AttentionWeights&)>;

// One run of a node: which, and when.
struct NodeRun {
  using Time = std::chrono::steady_clock::time_point;  // of a clock that only goes forward

  const Graph& graph;       // that runs
  const Graph::Node& node;  // of that graph
  Time begin;               // before its layer is called
  Time end;                 // when its output is there
};

// Called with each run of a node when it has ended: where time goes.
using NodeRunObserver = std::function<void(const NodeRun&)>;

// Everything that changes while a graph runs: activations, scratch, caches, the calls' arguments. One thread at a time
// may use a state; a graph serves as many states as there are. Grows to what the runs need, then allocates no more.
class RunState {
 public:
  // For runs of this graph alone, whose work the team shares.
  explicit RunState(const Graph& graph, std::shared_ptr<ThreadTeam> team = std::make_shared<ThreadTeam>());
  ~RunState();
  RunState(RunState&&) noexcept;
  RunState& operator=(RunState&&) noexcept;

  // Set by the caller before a run.
  std::vector<Sequence> sequences;
  CacheIndex cache_index;  // where the sequences' pasts lie
  NodeObserver observer;   // of every node's output; none if empty
  // A node's attention from now on; of nobody's interest if empty. Such a node is computed by one thread.
  void observe_attention(Edge node, AttentionObserver attention_observer);
  // No clock is read while it is empty.
  NodeRunObserver run_observer;

  // For layers, while they run.
  ThreadTeam& team() { return *team_; }
  // Uninitialised float32 memory that lasts until the running node is done.
  Tensor scratch(const Shape& shape);
  // For a list of sequences of its own, until the running node is done.
  std::vector<Sequence>& sequence_scratch() { return sequence_scratch_; }
  // Memory of one thread of the team, until that thread asks again.
  float* thread_scratch(int thread, std::size_t floats);
  // The running node's; empty where nobody asks for its attention.
  const AttentionObserver& attention_observer() const;
  // Cache of the running node; has room for all rows of the index.
  KeyValueCache& cache();
  backend::MatMulPrimitives& matmul_primitives(int thread);  // of one thread of the team

 private:
  friend class Executor;
  struct Memory;

  std::shared_ptr<ThreadTeam> team_;
  std::unique_ptr<Memory> memory_;
  std::vector<Sequence> sequence_scratch_;
};

}  // namespace encdec
