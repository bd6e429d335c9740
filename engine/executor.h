#pragma once

#include <span>

#include "encdec/engine/graph.h"
#include "encdec/engine/memory_plan.h"
#include "encdec/engine/run_state.h"

namespace encdec {

enum class MemoryPlanning {
  share,     // nodes whose outputs are never needed together share memory
  separate,  // every output has memory of its own: for finding out whether sharing is at fault
};

// Runs a graph: nodes in topological order, their outputs in one arena of the RunState, placed by liveness. Sizes are
// bound to the inputs of each run, and the plan is kept while they stay the same. Read-only: one executor serves many
// threads, each with its own RunState.
class Executor {
 public:
  // Throws ShapeError if the graph has no outputs or a node that feeds none.
  explicit Executor(Graph graph, MemoryPlanning planning = MemoryPlanning::share);

  const Graph& graph() const { return graph_; }  // what it runs

  // `inputs` in the order in which the graph declares them. Returns the graph's outputs; they live in the arena and
  // last until the next run with this state. Throws ShapeError, naming the input, if one does not fit.
  std::span<const Tensor> run(Inputs inputs, RunState& state) const;

 private:
  Symbols bind(Inputs inputs) const;
  void plan(const Symbols& symbols, RunState& state) const;

  Graph graph_;
  std::vector<int> order_;
  std::vector<Lifetime> lifetimes_;  // by edge id, sizes left open
};

}  // namespace encdec
