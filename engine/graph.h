#pragma once

#include <memory>
#include <string>
#include <vector>

#include "encdec/engine/base/weights.h"
#include "encdec/engine/layer.h"

namespace encdec {

// A value in a graph: what a node computes, or an input. Only the graph that made it gives it a meaning.
struct Edge {
  int id = -1;  // index in Graph::nodes()
};

// A network as data: named nodes (layers) connected by edges. Nodes can only use edges that exist already, so a graph
// has no cycles, and each addition is checked at once: names are unique and shapes fit.
// Build one, mark its outputs, and give it to an Executor.
class Graph {
 public:
  // Where a value comes from. `layer` is null for an input of the graph.
  struct Node {
    std::string name;                    // unique in its graph
    std::shared_ptr<const Layer> layer;  // what computes it
    std::vector<Edge> inputs;            // what the layer reads, in its order
    Shape shape;                         // of the value, symbolic in S and T
    DataType type = DataType::float32;   // of the value's elements
  };

  explicit Graph(std::string name) : name_(std::move(name)) {}  // empty

  // A tensor that the caller gives to each run. Throws ShapeError if the name is taken.
  Edge input(std::string name, const Shape& shape, DataType type = DataType::float32);

  // Throws ShapeError, naming the node, if the name is taken, an edge is unknown or a shape does not fit.
  Edge add(std::string name, std::shared_ptr<const Layer> layer, std::vector<Edge> inputs);

  // Makes a layer from a scope of the weights and adds it under the scope's name:
  //   Edge hidden = graph.add<FeedForward>(w / "feed_forward", {x}, Activation::relu);
  template <class L, class... Args>
  Edge add(const WeightScope& weights, std::vector<Edge> inputs, Args&&... args) {
    return add(weights.path(), std::make_shared<L>(weights, std::forward<Args>(args)...), std::move(inputs));
  }

  // Values that a run returns, in the order of these calls.
  void output(Edge edge);

  const std::string& name() const { return name_; }  // for messages and pictures
  // By edge id, inputs among them; every node stands after all that it uses.
  const std::vector<Node>& nodes() const { return nodes_; }
  const Node& node(Edge edge) const;  // what makes a value
  // Throws ShapeError if there is no such node.
  Edge find(std::string_view name) const;
  const std::vector<Edge>& inputs() const { return inputs_; }    // in the order in which a run takes them
  const std::vector<Edge>& outputs() const { return outputs_; }  // in the order in which a run returns them

  // Edge ids of the nodes that the outputs need, in an order in which they can run.
  // Throws ShapeError if there is no output, or naming a node that feeds none of them.
  std::vector<int> topological_order() const;

  // A line a node: name, kind, shape, inputs.
  std::string to_text() const;
  // Graphviz's language.
  std::string to_dot() const;

 private:
  Edge append(Node node);
  void check(Edge edge, const std::string& user) const;

  std::string name_;
  std::vector<Node> nodes_;
  std::vector<Edge> inputs_;
  std::vector<Edge> outputs_;
};

}  // namespace encdec
