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

// One sequence of a run. It may attend to rows of another input, such as the encoder output.
struct Sequence {
  int first_row = 0;         // the rows of the sequence are [first_row, first_row + rows)
  int rows = 0;              // a whole source, a whole target, or 1 in a decoding step
  int past = 0;              // number of positions computed by previous runs
  int slot = -1;             // slot in the CacheIndex; -1 if nothing is cached
  int first_source_row = 0;  // first row of the other input that it may attend to
  int source_rows = 0;       // number of these rows; 0 if there is no other input
};

// Throws InputError unless the sequences have `rows` rows together.
void expect_all_rows(std::span<const Sequence> sequences, Dim rows);

// Describes a run that is one chunk of a single long sequence. A layer that needs the rows of
// previous chunks keeps them in RunState::carried(). A layer that reads n rows ahead delays its
// output by n rows, and therefore subtracts n from `first` for the nodes after it.
struct StreamChunk {
  int first = 0;                              // position of the first row; ignore rows before 0
  int end = std::numeric_limits<int>::max();  // length of the sequence, if known
};

// Called with the output of each node, in the order in which the nodes run.
using NodeObserver = std::function<void(const Graph::Node& node, const Tensor& output)>;

// The attention weights (softmax over keys) of one row of an attention node, for one head.
struct AttentionWeights {
  int row = 0;  // among all packed rows of the run
  int head = 0;
  int first_key = 0;               // keys outside of `weights` have weight 0
  std::span<const float> weights;  // from `first_key` on; the sum is at most 1
};

// Called for each row and head of an observed node.
using AttentionObserver = std::function<void(const AttentionWeights&)>;

enum class AttendedRows : std::uint8_t { own, source };  // rows that a node attends to

struct NodeRun {
  using Time = std::chrono::steady_clock::time_point;
  const Graph& graph;
  const Graph::Node& node;  // a node of `graph`
  Time begin;               // before the layer is called
  Time end;                 // when the output is complete
};

// Called after each run of a node, for measuring time per node.
using NodeRunObserver = std::function<void(const NodeRun&)>;

// Everything that changes while a graph runs: activations, scratch memory, caches, oneDNN primitives. A graph may have
// any number of states, each for one thread at a time. A state allocates no more memory once it has what its runs need.
class RunState {
 public:
  // `team` shares the work of runs. The state can run only `graph`.
  explicit RunState(const Graph& graph, std::shared_ptr<ThreadTeam> team = std::make_shared<ThreadTeam>());
  ~RunState();
  RunState(RunState&&) noexcept;
  RunState& operator=(RunState&&) noexcept;

  std::vector<Sequence> sequences;  // sequences of the next run, set by the caller
  CacheIndex cache_index;           // cache row of each position of each slot
  // Set by the caller before each run of a stream; `sequences` then has one element.
  std::optional<StreamChunk> stream;
  // Continues the stream of `other`, which is a state of the same graph and does not change.
  void continue_stream(const RunState& other);
  NodeObserver observer;  // optional
  // Sets the observer for the attention of `node` in later runs. An empty observer stops the observation. The attention
  // of an observed node runs on one thread.
  void observe_attention(Edge node, AttentionObserver attention_observer, AttendedRows to = AttendedRows::own);
  NodeRunObserver run_observer;  // optional

  // The members below are for running layers.
  ThreadTeam& team() { return *team_; }
  // Returns uninitialised float32 memory, valid until the running node is done.
  Tensor scratch(const Shape& shape);
  // Returns a vector for the running layer's own sequences, valid until the running node is done.
  std::vector<Sequence>& sequence_scratch() { return sequence_scratch_; }
  // Returns uninitialised memory for one thread of the team, valid until the thread's next call.
  float* thread_scratch(int thread, std::size_t floats);
  // Returns the running node's observer; empty if its attention is not observed.
  const AttentionObserver& attention_observer(AttendedRows to = AttendedRows::own) const;
  // Returns the running node's key/value cache, with room for all rows of cache_index.
  KeyValueCache& cache();
  // Returns the floats that the running node keeps from chunk to chunk of a stream; empty at first.
  std::vector<float>& carried();
  backend::MatMulPrimitives& matmul_primitives(int thread);

 private:
  friend class Executor;
  struct Memory;

  std::shared_ptr<ThreadTeam> team_;
  std::unique_ptr<Memory> memory_;
  std::vector<Sequence> sequence_scratch_;
};

}  // namespace encdec
