#pragma once

#include <span>

#include "encdec/engine/graph.h"
#include "encdec/engine/memory_plan.h"
#include "encdec/engine/run_state.h"

namespace encdec {

enum class MemoryPlanning {
  share,     // values that are never needed together share memory
  separate,  // every value has its own memory; for finding bugs in sharing
};

// Runs a graph's nodes in topological order. Outputs are stored in the arena of a RunState, at offsets that
// plan_memory() chooses by liveness. The plan is reused while the sizes of the inputs stay the same. Read-only: one
// executor serves many threads, each with its own RunState.
class Executor {
 public:
  // Throws ShapeError if the graph has no outputs, or if a node does not contribute to any output.
  explicit Executor(Graph graph, MemoryPlanning planning = MemoryPlanning::share);

  const Graph& graph() const { return graph_; }

  // Runs the graph once, with `inputs` in the order of Graph::inputs(). The outputs are valid until
  // the next run with this state. Throws ShapeError, naming the input, if an input does not fit.
  std::span<const Tensor> run(Inputs inputs, RunState& state) const;
  // Runs `layer` in place of the last node, such as a projection to fewer outputs.
  void run_variant(const Layer& layer, Inputs inputs, Tensor& output, RunState& state) const;

 private:
  Symbols bind(Inputs inputs) const;
  void plan(const Symbols& symbols, RunState& state) const;
  void run_node(int id, const Layer& layer, Inputs inputs, Tensor& output, RunState& state) const;

  Graph graph_;
  std::vector<int> order_;
  std::vector<Lifetime> lifetimes_;  // by edge id; plan() sets `bytes` in a copy
};

}  // namespace encdec
