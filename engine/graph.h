#pragma once

#include <memory>
#include <string>
#include <vector>

#include "encdec/engine/base/weights.h"
#include "encdec/engine/layer.h"

namespace encdec {

// A value in a graph: an input or the output of a node. Valid only in the graph that created it.
struct Edge {
  int id = -1;  // index in Graph::nodes()
};

// A network as data: named nodes (layers), connected by edges. A node can only use existing edges,
// so graphs are acyclic. Additions are checked at once: names must be unique and shapes must fit.
// Order of calls: (input | add | output)*, then pass the graph to an Executor.
class Graph {
 public:
  struct Node {
    std::string name;                    // unique in the graph
    std::shared_ptr<const Layer> layer;  // null for a graph input
    std::vector<Edge> inputs;
    Shape shape;                        // shape of the value; may contain symbols
    DataType type = DataType::float32;  // type of the value
  };

  explicit Graph(std::string name) : name_(std::move(name)) {}

  // Adds a tensor that the caller passes to each run. Throws ShapeError if the name is taken.
  Edge input(std::string name, const Shape& shape, DataType type = DataType::float32);

  // Adds a node and returns its output. Throws ShapeError, naming the node, if the name is taken,
  // an edge is unknown or a shape does not fit.
  Edge add(std::string name, std::shared_ptr<const Layer> layer, std::vector<Edge> inputs);

  // Creates a layer from a scope of weights and adds it under the name of the scope:
  //   Edge hidden = graph.add<FeedForward>(w / "feed_forward", {x}, options);
  template <class L, class... Args>
  Edge add(const WeightScope& weights, std::vector<Edge> inputs, Args&&... args) {
    return add(weights.path(), std::make_shared<L>(weights, std::forward<Args>(args)...), std::move(inputs));
  }

  // Marks a value as the next output of a run.
  void output(Edge edge);

  const std::string& name() const { return name_; }  // for messages and drawings
  // All nodes, graph inputs included, by edge id. A node follows the nodes that it uses.
  const std::vector<Node>& nodes() const { return nodes_; }
  const Node& node(Edge edge) const;
  // Returns the value of the node or input `name`, or throws ShapeError.
  Edge find(std::string_view name) const;
  const std::vector<Edge>& inputs() const { return inputs_; }    // in the order in which a run takes them
  const std::vector<Edge>& outputs() const { return outputs_; }  // in the order in which a run returns them

  // Returns all layers (edge ids) in an order in which they can run. Throws ShapeError if the graph
  // has no output or, naming the node, if no output depends on a node.
  std::vector<int> topological_order() const;

  // Returns the graph as text, one line per node: name, kind, shape, inputs.
  std::string to_text() const;
  // Returns a drawing of the graph in Graphviz's language DOT.
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
