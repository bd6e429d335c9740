#pragma once

#include <memory>
#include <string>
#include <vector>

#include "encdec/engine/base/weights.h"
#include "encdec/engine/layer.h"

namespace encdec {

// A value in a graph: an input, or the output of a node. An edge is valid only in the graph that created it.
struct Edge {
  int id = -1;  // index in Graph::nodes()
};

// A network as data: named nodes (layers), connected by edges. A new node can only use existing edges, so a graph has
// no cycles. Each addition is checked at once: names must be unique and shapes must fit.
// Order of calls: (input | add | output)*, then pass the graph to an Executor.
class Graph {
 public:
  // A graph input or a layer with its inputs. `layer` is null for a graph input.
  struct Node {
    std::string name;                    // unique in the graph
    std::shared_ptr<const Layer> layer;  // the layer that computes the value
    std::vector<Edge> inputs;            // the layer's inputs, in its order
    Shape shape;                         // shape of the value, symbolic in S and T
    DataType type = DataType::float32;   // element type of the value
  };

  explicit Graph(std::string name) : name_(std::move(name)) {}  // an empty graph

  // Adds an input: a tensor that the caller passes to each run. Throws ShapeError if the name is taken.
  Edge input(std::string name, const Shape& shape, DataType type = DataType::float32);

  // Adds a node and returns its output. Throws ShapeError, naming the node, if the name is taken, an edge is unknown or
  // a shape does not fit.
  Edge add(std::string name, std::shared_ptr<const Layer> layer, std::vector<Edge> inputs);

  // Creates a layer from a scope of the weights ("encoder" / 0 names "encoder.0") and adds it under the scope's name:
  //   Edge hidden = graph.add<FeedForward>(w / "feed_forward", {x}, options);
  template <class L, class... Args>
  Edge add(const WeightScope& weights, std::vector<Edge> inputs, Args&&... args) {
    return add(weights.path(), std::make_shared<L>(weights, std::forward<Args>(args)...), std::move(inputs));
  }

  // Marks a value as an output. A run returns the outputs in the order of these calls.
  void output(Edge edge);

  const std::string& name() const { return name_; }  // used in messages and drawings
  // All nodes by edge id, inputs included. Every node comes after the nodes that it uses.
  const std::vector<Node>& nodes() const { return nodes_; }
  const Node& node(Edge edge) const;  // the node that computes a value
  // Returns the value of the node or input with this name. Throws ShapeError if there is none.
  Edge find(std::string_view name) const;
  const std::vector<Edge>& inputs() const { return inputs_; }    // in the order in which a run takes them
  const std::vector<Edge>& outputs() const { return outputs_; }  // in the order in which a run returns them

  // Returns the edge ids of all nodes that have a layer, in an order in which they can run. Throws ShapeError if the
  // graph has no output, or, naming the node, if a node does not contribute to any output.
  std::vector<int> topological_order() const;

  // Returns the graph as text, one line per node: name, kind, shape, inputs.
  std::string to_text() const;
  // Returns a drawing of the graph in DOT, Graphviz's language.
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
