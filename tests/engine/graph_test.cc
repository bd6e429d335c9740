#include "encdec/engine/graph.h"

#include <gtest/gtest.h>

#include "encdec/engine/base/error.h"
#include "tests/engine/toy_layers.h"
#include "tests/support/message_of.h"

namespace encdec {
namespace {

TEST(Graph, NamesAreUnique) {
  Graph graph("small");
  const Edge x = graph.input("x", {2, 3});
  graph.add("a", toy(), {x});
  EXPECT_EQ(message_of<ShapeError>([&] { graph.add("a", toy(), {x}); }),
            "graph 'small': the name 'a' is taken, node names are unique");
  EXPECT_EQ(message_of<ShapeError>([&] { graph.add("x", toy(), {x}); }),
            "graph 'small': the name 'x' is taken, node names are unique");
  EXPECT_EQ(message_of<ShapeError>([&] { graph.input("a", {1}); }),
            "graph 'small': the name 'a' is taken, node names are unique");
  EXPECT_EQ(graph.nodes().size(), 2u);
  EXPECT_EQ(graph.inputs().size(), 1u);
}

TEST(Graph, UnknownEdgesAreRefused) {
  Graph graph("small");
  graph.input("x", {2, 3});
  EXPECT_EQ(message_of<ShapeError>([&] { graph.add("a", toy(), {Edge{1}}); }),
            "graph 'small', node 'a': edge 1 is not of this graph");
  EXPECT_EQ(message_of<ShapeError>([&] { graph.add("a", toy(), {Edge{}}); }),
            "graph 'small', node 'a': edge -1 is not of this graph");
  EXPECT_EQ(message_of<ShapeError>([&] { graph.output({7}); }), "graph 'small', output: edge 7 is not of this graph");
  EXPECT_EQ(message_of<ShapeError>([&] { graph.find("y"); }), "graph 'small' has no node 'y'");
}

TEST(Graph, ShapeMismatchNamesTheNodeAndItsKind) {
  Graph graph("small");
  const Edge x = graph.input("x", {kSourceRows, 3});
  const Edge y = graph.input("y", {kTargetRows, 3});
  EXPECT_EQ(message_of<ShapeError>([&] {
              graph.add("decoder.0.sum", toy(), {x, y});
            }),
            "graph 'small', node 'decoder.0.sum' (toy): input has shape [T, 3], expected [S, 3]");
  EXPECT_EQ(graph.nodes().size(), 2u);
}

TEST(Graph, TooManyInputsAreRefused) {
  Graph graph("small");
  const Edge x = graph.input("x", {1});
  EXPECT_EQ(graph.add("eight", toy(), std::vector<Edge>(8, x)).id, 1);
  EXPECT_EQ(message_of<ShapeError>([&] { graph.add("nine", toy(), std::vector<Edge>(9, x)); }),
            "graph 'small', node 'nine': 9 inputs, expected at most 8");
}

TEST(Graph, OrderHasEveryNodeAfterItsInputs) {
  Graph graph("small");
  const Edge x = graph.input("x", {1});
  const Edge a = graph.add("a", toy(), {x});
  const Edge y = graph.input("y", {1});
  const Edge b = graph.add("b", toy(), {a, y});
  const Edge c = graph.add("c", toy(), {x, b});
  graph.output(c);
  EXPECT_EQ(graph.topological_order(), (std::vector<int>{a.id, b.id, c.id}));
}

Graph two_layers() {
  Graph graph("small");
  const Edge tokens = graph.input("tokens", {kSourceRows, 512});
  const Edge first = graph.add("encoder.0", toy(), {tokens});
  const Edge second = graph.add("encoder.1", toy(), {first, tokens});
  graph.output(second);
  graph.output(first);
  return graph;
}

TEST(Graph, TextHasALineForEachNode) {
  EXPECT_EQ(two_layers().to_text(),
            "graph small\n"
            "  tokens     input  [S, 512]\n"
            "  encoder.0  toy    [S, 512]   <- tokens  => output\n"
            "  encoder.1  toy    [S, 512]   <- encoder.0, tokens  => output\n");
}

TEST(Graph, DotHasEveryNodeEdgeAndOutput) {
  EXPECT_EQ(two_layers().to_dot(),
            "digraph \"small\" {\n"
            "  rankdir=BT;\n"
            "  node [shape=box, fontname=\"sans-serif\"];\n"
            "  \"tokens\" [label=\"input\\ntokens\", style=dashed];\n"
            "  \"encoder.0\" [label=\"toy\\nencoder.0\"];\n"
            "  \"encoder.1\" [label=\"toy\\nencoder.1\"];\n"
            "  \"tokens\" -> \"encoder.0\" [label=\"[S, 512]\"];\n"
            "  \"encoder.0\" -> \"encoder.1\" [label=\"[S, 512]\"];\n"
            "  \"tokens\" -> \"encoder.1\" [label=\"[S, 512]\"];\n"
            "  \"output 0\" [shape=plaintext];\n"
            "  \"encoder.1\" -> \"output 0\";\n"
            "  \"output 1\" [shape=plaintext];\n"
            "  \"encoder.0\" -> \"output 1\";\n"
            "}\n");
}

TEST(Graph, DotQuotesNames) {
  Graph graph("a \"b\"");
  graph.output(graph.add("c\\\"d\"", toy(), {graph.input("x", {1})}));
  const std::string dot = graph.to_dot();
  EXPECT_NE(dot.find("digraph \"a \\\"b\\\"\" {"), std::string::npos) << dot;
  EXPECT_NE(dot.find("  \"c\\\\\\\"d\\\"\" [label=\"toy\\nc\\\\\\\"d\\\"\"];"), std::string::npos) << dot;
}

}  // namespace
}  // namespace encdec
