#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
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

// One sequence of a run: its packed rows, its earlier positions, and the rows of another input that it may attend to.
struct Sequence {
  int first_row = 0;         // the sequence's rows in this run: [first_row, first_row + rows)
  int rows = 0;              // number of rows: a whole source, a whole target, or 1 in a decoding step
  int past = 0;              // number of the sequence's positions that earlier runs computed
  int slot = -1;             // number in the cache index (see CacheIndex); -1 if nothing is cached
  int first_memory_row = 0;  // first row that the sequence may attend to in another input, such as the encoder output
  int memory_rows = 0;       // number of these rows; 0 if there are none
};

// Throws InputError unless the rows of all sequences add up to `rows`; otherwise a layer that works through the
// sequences would leave rows out.
void expect_all_rows(std::span<const Sequence> sequences, Dim rows);

// The rows of a run that is one piece of a single long sequence. Layers that read neighbouring rows keep the rows that
// later runs need (RunState::carried). A layer that reads n rows ahead gives each row n rows later: for the nodes
// after it, it lowers `first` by n.
struct StreamPiece {
  int first = 0;  // position of the running node's first row; a row before position 0 has no meaning
  int end = std::numeric_limits<int>::max();  // length of the sequence, if known; later rows have no meaning
};

// A callback for each node's output, in the order in which the nodes run.
using NodeObserver = std::function<void(const Graph::Node& node, const Tensor& output)>;

// The attention weights (softmax over keys) of one row of an attention node, for one head.
struct AttentionWeights {
  int row = 0;                     // index among all packed rows of the run
  int head = 0;                    // counted from 0
  int first_key = 0;               // first key with a weight; keys outside `weights` have weight 0
  std::span<const float> weights;  // weights of keys [first_key, first_key + weights.size()); their sum is at most 1
};

// A callback for the attention weights of a node, called for each row and head once its weights have been computed.
using AttentionObserver = std::function<void(const AttentionWeights&)>;

// The rows that a node attends to. `source`: the second kind, in a node that also attends to its own sequence.
enum class AttendedRows : std::uint8_t { own, source };

// One run of one node, with its times.
struct NodeRun {
  using Time = std::chrono::steady_clock::time_point;  // on a clock that never goes back

  const Graph& graph;       // the graph that runs
  const Graph::Node& node;  // the node, which belongs to `graph`
  Time begin;               // before the layer is called
  Time end;                 // when the output is complete
};

// A callback for each run of a node, called at its end. Used to measure time per node.
using NodeRunObserver = std::function<void(const NodeRun&)>;

// Everything that changes while a graph runs: activations, scratch memory, caches, argument lists of oneDNN calls. One
// thread at a time may use a state. A graph may have any number of states. A state grows to what its runs need, then
// allocates no more.
class RunState {
 public:
  // A state for runs of `graph` only. `team` shares the work.
  explicit RunState(const Graph& graph, std::shared_ptr<ThreadTeam> team = std::make_shared<ThreadTeam>());
  ~RunState();
  RunState(RunState&&) noexcept;
  RunState& operator=(RunState&&) noexcept;

  // Sequences of the next run, set by the caller.
  std::vector<Sequence> sequences;
  CacheIndex cache_index;  // for each slot, the cache row of each of its positions
  // Set if runs are pieces of one sequence. The caller sets it before each run; `sequences` then has one element.
  std::optional<StreamPiece> stream;
  // Goes on with the stream of another state of the same graph, which is left as it is.
  void continue_stream(const RunState& other);
  NodeObserver observer;  // called with every node's output if set
  // Observes the attention of `node` in later runs; an empty observer stops observing. The attention of an observed
  // node runs on one thread. A node that attends to its own sequence and to a source has an observer for each.
  void observe_attention(Edge node, AttentionObserver attention_observer, AttendedRows to = AttendedRows::own);
  // Called after every node if set. If unset, no clock is read.
  NodeRunObserver run_observer;

  // The members below are for layers, while they run.
  ThreadTeam& team() { return *team_; }
  // Returns uninitialised float32 memory that is valid until the running node is done.
  Tensor scratch(const Shape& shape);
  // Returns a vector that the running layer may fill with sequences of its own. Valid until the running node is done.
  std::vector<Sequence>& sequence_scratch() { return sequence_scratch_; }
  // Returns `floats` uninitialised floats for one thread of the team, valid until the next call for the same thread.
  float* thread_scratch(int thread, std::size_t floats);
  // Returns the attention observer of the running node; empty if its attention is not observed.
  const AttentionObserver& attention_observer(AttendedRows to = AttendedRows::own) const;
  // Returns the key/value cache of the running node, large enough for all rows of cache_index.
  KeyValueCache& cache();
  // Returns the floats that the running node keeps from piece to piece of a stream; empty at first.
  std::vector<float>& carried();
  backend::MatMulPrimitives& matmul_primitives(int thread);  // oneDNN primitives of one thread of the team

 private:
  friend class Executor;
  struct Memory;

  std::shared_ptr<ThreadTeam> team_;
  std::unique_ptr<Memory> memory_;
  std::vector<Sequence> sequence_scratch_;
};

}  // namespace encdec
