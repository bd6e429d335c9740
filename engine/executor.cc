#include "encdec/engine/executor.h"

#include <fmt/format.h>

#include <algorithm>

#include "encdec/engine/base/error.h"
#include "encdec/engine/run_state_memory.h"

namespace encdec {

Executor::Executor(Graph graph, MemoryPlanning planning)
    : graph_(std::move(graph)), order_(graph_.topological_order()), lifetimes_(graph_.nodes().size()) {
  // A value is needed from the step that computes it to the last step that reads it.
  const int end = static_cast<int>(order_.size());
  for (int step = 0; step < end; ++step) {
    const auto id = static_cast<std::size_t>(order_[static_cast<std::size_t>(step)]);
    lifetimes_[id] = {.bytes = 0, .first = step, .last = step};
    for (const Edge edge : graph_.nodes()[id].inputs) lifetimes_[static_cast<std::size_t>(edge.id)].last = step;
  }
  for (const Edge edge : graph_.outputs()) lifetimes_[static_cast<std::size_t>(edge.id)].last = end;
  if (planning == MemoryPlanning::separate) {
    for (Lifetime& lifetime : lifetimes_) lifetime = {.bytes = 0, .first = 0, .last = end};
  }
}

// Returns the sizes of the symbols. Each symbol must have the same size in all inputs.
Symbols Executor::bind(Inputs inputs) const {
  const auto mismatch = [this](const Graph::Node& node, const Tensor& tensor) {
    return ShapeError(fmt::format("graph '{}', input '{}': {} {}, expected {} {}", graph_.name(), node.name,
                                  to_string(tensor.type()), to_string(tensor.shape()), to_string(node.type),
                                  to_string(node.shape)));
  };
  if (inputs.size() != graph_.inputs().size()) {
    throw ShapeError(
        fmt::format("graph '{}': {} inputs, expected {}", graph_.name(), inputs.size(), graph_.inputs().size()));
  }
  // The first input with a symbol defines the size of this symbol. Later inputs must agree.
  Symbols symbols{-1, -1, -1};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Graph::Node& node = graph_.node(graph_.inputs()[i]);
    const Tensor& tensor = inputs[i];
    if (tensor.type() != node.type || tensor.shape().rank() != node.shape.rank()) throw mismatch(node, tensor);
    for (int axis = 0; axis < node.shape.rank(); ++axis) {
      const Dim size = tensor.shape()[axis];
      Dim* symbol = nullptr;
      if (node.shape[axis] == kBatch) symbol = &symbols.batch;
      if (node.shape[axis] == kSourceRows) symbol = &symbols.source_rows;
      if (node.shape[axis] == kTargetRows) symbol = &symbols.target_rows;
      if (symbol != nullptr && *symbol < 0) *symbol = size;
      if (size != (symbol != nullptr ? *symbol : node.shape[axis])) throw mismatch(node, tensor);
    }
  }
  // A symbol that is in no input has size 0.
  for (Dim* symbol : {&symbols.batch, &symbols.source_rows, &symbols.target_rows}) *symbol = std::max<Dim>(*symbol, 0);
  return symbols;
}

// Computes a memory plan for these sizes, and assigns a part of the arena to the output of each node.
void Executor::plan(const Symbols& symbols, RunState& state) const {
  RunState::Memory& memory = *state.memory_;
  memory.planned_for = {-1, -1, -1};  // marks the plan as invalid until it is complete: allocation may throw
  memory.lifetimes.assign(lifetimes_.begin(), lifetimes_.end());
  for (const int id : order_) {
    const Graph::Node& node = graph_.nodes()[static_cast<std::size_t>(id)];
    memory.lifetimes[static_cast<std::size_t>(id)].bytes =
        static_cast<std::size_t>(node.shape.bind(symbols).elements()) * size_of(node.type);
  }
  // The arena never shrinks, even if later runs need less memory.
  const std::size_t bytes = plan_memory(memory.lifetimes, memory.offsets);
  if (memory.arena.empty() || memory.arena.bytes() < bytes) {
    memory.arena = Tensor();  // free the old arena first: memory may be too small for both
    memory.arena = Tensor::of_bytes(bytes);
  }
  for (const int id : order_) {
    const auto index = static_cast<std::size_t>(id);
    const Graph::Node& node = graph_.nodes()[index];
    memory.values[index] = {memory.arena.raw() + memory.offsets[index], node.type, node.shape.bind(symbols)};
  }
  memory.planned_for = symbols;
}

std::span<const Tensor> Executor::run(Inputs inputs, RunState& state) const {
  RunState::Memory& memory = *state.memory_;
  const Symbols symbols = bind(inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    memory.values[static_cast<std::size_t>(graph_.inputs()[i].id)] = inputs[i];
  }
  if (symbols != memory.planned_for) plan(symbols, state);

  // For each node, collect its inputs, reserve rows in its cache, and compute its output.
  std::array<Tensor, kMaxInputs> arguments;
  for (const int id : order_) {
    const auto index = static_cast<std::size_t>(id);
    const Graph::Node& node = graph_.nodes()[index];
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      arguments[i] = memory.values[static_cast<std::size_t>(node.inputs[i].id)];
    }
    if (const KeyValueLayout form = node.layer->key_value_form(); form.heads > 0) {
      memory.caches[index].reserve(state.cache_index.of(form.window).row_limit(), form);
    }
    run_node(id, *node.layer, Inputs(arguments.data(), node.inputs.size()), memory.values[index], state);
  }
  for (std::size_t i = 0; i < graph_.outputs().size(); ++i) {
    memory.outputs[i] = memory.values[static_cast<std::size_t>(graph_.outputs()[i].id)];
  }
  return memory.outputs;
}

void Executor::run_variant(const Layer& layer, Inputs inputs, Tensor& output, RunState& state) const {
  run_node(order_.back(), layer, inputs, output, state);
}

// Runs `layer` as node `id`: with the name, caches and observers of this node.
void Executor::run_node(int id, const Layer& layer, Inputs inputs, Tensor& output, RunState& state) const {
  const Graph::Node& node = graph_.nodes()[static_cast<std::size_t>(id)];
  state.memory_->running = id;
  state.memory_->scratch.reset();
  const NodeRun::Time begin = state.run_observer ? NodeRun::Time::clock::now() : NodeRun::Time();
  try {
    layer.forward(inputs, output, state);
  } catch (const BackendError& error) {
    throw BackendError(
        fmt::format("graph '{}', node '{}' {}: {}", graph_.name(), node.name, to_string(output.shape()), error.what()));
  }
  if (state.run_observer) state.run_observer({graph_, node, begin, NodeRun::Time::clock::now()});
  if (state.observer) state.observer(node, output);
}

}  // namespace encdec
