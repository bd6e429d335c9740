#pragma once

#include <span>

#include "encdec/engine/graph.h"
#include "encdec/engine/memory_plan.h"
#include "encdec/engine/run_state.h"

namespace encdec {

enum class MemoryPlanning {
  share,     // outputs that are never needed together share memory
  separate,  // every output has its own memory; for finding bugs in sharing
};

// Runs a graph: nodes in topological order, outputs in the arena of a RunState, placed by liveness.
// Each run binds the symbolic sizes to the shapes of its inputs. The memory plan is kept while the sizes stay the same.
// An executor is read-only: one executor serves many threads, each with its own RunState.
class Executor {
 public:
  // Throws ShapeError if the graph has no outputs, or if a node does not contribute to any output.
  explicit Executor(Graph graph, MemoryPlanning planning = MemoryPlanning::share);

  const Graph& graph() const { return graph_; }  // the graph that this executor runs

  // Runs the graph once. `inputs` are in the order in which the graph declares them. Returns the graph's outputs; they
  // live in the arena and are valid until the next run with this state. Throws ShapeError, naming the input, if an
  // input does not fit.
  std::span<const Tensor> run(Inputs inputs, RunState& state) const;
  // Runs `layer` in place of the graph's last node, such as a projection to fewer outputs, on the caller's `inputs` and
  // `output`. Observers see it as the last node.
  void run_variant(const Layer& layer, Inputs inputs, Tensor& output, RunState& state) const;

 private:
  Symbols bind(Inputs inputs) const;
  void plan(const Symbols& symbols, RunState& state) const;
  void run_node(int id, const Layer& layer, Inputs inputs, Tensor& output, RunState& state) const;

  Graph graph_;
  std::vector<int> order_;
  std::vector<Lifetime> lifetimes_;  // indexed by edge id; `bytes` is 0: plan() sets it in a copy
};

}  // namespace encdec
