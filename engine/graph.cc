#include "encdec/engine/graph.h"

#include <fmt/format.h>

#include <algorithm>

#include "encdec/engine/base/error.h"

namespace encdec {

void Graph::check(Edge edge, const std::string& user) const {
  if (edge.id < 0 || edge.id >= static_cast<int>(nodes_.size())) {
    throw ShapeError(fmt::format("graph '{}', {}: edge {} is not of this graph", name_, user, edge.id));
  }
}

Edge Graph::append(Node node) {
  // A linear search is fast enough, because graphs have few nodes and are built once.
  for (const Node& other : nodes_) {
    if (other.name == node.name) {
      throw ShapeError(fmt::format("graph '{}': the name '{}' is taken, node names are unique", name_, node.name));
    }
  }
  nodes_.push_back(std::move(node));
  return {static_cast<int>(nodes_.size()) - 1};
}

Edge Graph::input(std::string name, const Shape& shape, DataType type) {
  const Edge edge = append({std::move(name), nullptr, {}, shape, type});
  inputs_.push_back(edge);
  return edge;
}

Edge Graph::add(std::string name, std::shared_ptr<const Layer> layer, std::vector<Edge> inputs) {
  if (inputs.size() > kMaxInputs) {
    throw ShapeError(
        fmt::format("graph '{}', node '{}': {} inputs, expected at most {}", name_, name, inputs.size(), kMaxInputs));
  }
  std::vector<Shape> shapes;
  for (const Edge edge : inputs) {
    check(edge, fmt::format("node '{}'", name));
    shapes.push_back(node(edge).shape);
  }
  // The layer checks the shapes of its inputs and computes the shape of its output.
  Node added{std::move(name), std::move(layer), std::move(inputs), {}};
  added.type = added.layer->output_type();
  try {
    added.shape = added.layer->output_shape(shapes);
  } catch (const ShapeError& error) {
    throw ShapeError(
        fmt::format("graph '{}', node '{}' ({}): {}", name_, added.name, added.layer->kind(), error.what()));
  }
  return append(std::move(added));
}

void Graph::output(Edge edge) {
  check(edge, "output");
  outputs_.push_back(edge);
}

const Graph::Node& Graph::node(Edge edge) const {
  check(edge, "node()");
  return nodes_[static_cast<std::size_t>(edge.id)];
}

Edge Graph::find(std::string_view name) const {
  const auto found = std::ranges::find(nodes_, name, &Node::name);
  if (found == nodes_.end()) throw ShapeError(fmt::format("graph '{}' has no node '{}'", name_, name));
  return {static_cast<int>(found - nodes_.begin())};
}

std::vector<int> Graph::topological_order() const {
  if (outputs_.empty()) throw ShapeError(fmt::format("graph '{}' has no output", name_));
  std::vector<bool> needed(nodes_.size(), false);
  for (const Edge edge : outputs_) needed[static_cast<std::size_t>(edge.id)] = true;
  // The inputs of a node have smaller ids than the node, so one backward pass finds all needed nodes.
  for (std::size_t id = nodes_.size(); id-- > 0;) {
    if (!needed[id]) throw ShapeError(fmt::format("graph '{}': node '{}' feeds no output", name_, nodes_[id].name));
    for (const Edge edge : nodes_[id].inputs) needed[static_cast<std::size_t>(edge.id)] = true;
  }
  std::vector<int> order;
  for (std::size_t id = 0; id < nodes_.size(); ++id) {
    if (nodes_[id].layer != nullptr) order.push_back(static_cast<int>(id));
  }
  return order;
}

std::string Graph::to_text() const {
  // Make each column as wide as its longest entry.
  std::size_t name_width = 0, kind_width = 0;
  const auto kind = [](const Node& node) { return node.layer ? node.layer->kind() : std::string_view("input"); };
  for (const Node& node : nodes_) {
    name_width = std::max(name_width, node.name.size());
    kind_width = std::max(kind_width, kind(node).size());
  }
  std::string text = fmt::format("graph {}\n", name_);
  for (std::size_t id = 0; id < nodes_.size(); ++id) {
    const Node& node = nodes_[id];
    text +=
        fmt::format("  {:<{}}  {:<{}}  {:<10}", node.name, name_width, kind(node), kind_width, to_string(node.shape));
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      text += (i == 0 ? " <- " : ", ") + this->node(node.inputs[i]).name;
    }
    if (std::ranges::find(outputs_, static_cast<int>(id), &Edge::id) != outputs_.end()) text += "  => output";
    while (text.back() == ' ') text.pop_back();
    text += '\n';
  }
  return text;
}

std::string Graph::to_dot() const {
  // In DOT, quotes and backslashes inside a string need a backslash before them.
  const auto escaped = [](std::string_view name) {
    std::string result;
    for (const char c : name) {
      if (c == '"' || c == '\\') result += '\\';
      result += c;
    }
    return result;
  };
  const auto quoted = [&](std::string_view name) { return '"' + escaped(name) + '"'; };
  std::string dot =
      fmt::format("digraph {} {{\n  rankdir=BT;\n  node [shape=box, fontname=\"sans-serif\"];\n", quoted(name_));
  for (const Node& node : nodes_) {
    const std::string label = fmt::format("{}\\n{}", node.layer ? node.layer->kind() : "input", escaped(node.name));
    dot += fmt::format("  {} [label=\"{}\"{}];\n", quoted(node.name), label, node.layer ? "" : ", style=dashed");
  }
  for (const Node& node : nodes_) {
    for (const Edge edge : node.inputs) {
      dot += fmt::format("  {} -> {} [label=\"{}\"];\n", quoted(this->node(edge).name), quoted(node.name),
                         to_string(this->node(edge).shape));
    }
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    dot += fmt::format("  \"output {}\" [shape=plaintext];\n  {} -> \"output {}\";\n", i,
                       quoted(node(outputs_[i]).name), i);
  }
  return dot + "}\n";
}

}  // namespace encdec
