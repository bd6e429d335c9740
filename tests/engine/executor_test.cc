#include "encdec/engine/executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "encdec/engine/base/error.h"
#include "tests/engine/toy_layers.h"
#include "tests/support/comparison.h"
#include "tests/support/message_of.h"
#include "tests/support/random_tensors.h"

namespace encdec {
namespace {

Tensor filled(const Shape& shape, float value) {
  Tensor tensor = Tensor::allocate(shape);
  std::fill_n(tensor.data<float>(), tensor.elements(), value);
  return tensor;
}

// Returns a graph of nodes that each have one to three of the earlier nodes as inputs. Every node whose value no other
// node uses is an output, and some others are too.
Graph random_graph(RandomTensors& random, int nodes) {
  Graph graph("random");
  graph.input("x", {kBatch, 5});
  graph.input("y", {kBatch, 5});
  std::vector<bool> used(static_cast<std::size_t>(nodes + 2));
  for (int node = 0; node < nodes; ++node) {
    std::vector<Edge> inputs;
    if (node == 0) inputs = {{0}, {1}};  // so that both inputs are used
    for (int i = 0; node > 0 && i < 1 + random.below(3); ++i) {
      // Mostly recent nodes, as in a real network.
      inputs.push_back({std::max(0, node + 1 - random.below(random.below(8) + 1))});
    }
    for (const Edge edge : inputs) used[static_cast<std::size_t>(edge.id)] = true;
    graph.add("node " + std::to_string(node), toy(static_cast<float>(random.below(3) - 1)), inputs);
  }
  for (int id = 2; id < nodes + 2; ++id) {
    if (!used[static_cast<std::size_t>(id)] || random.below(8) == 0) graph.output({id});
  }
  return graph;
}

// Computes the value of each edge of a graph of toy layers, each in its own memory.
std::vector<Tensor> evaluate(const Graph& graph, const std::vector<Tensor>& inputs, RunState& state) {
  std::vector<Tensor> values;
  std::size_t next_input = 0;
  for (const Graph::Node& node : graph.nodes()) {
    if (node.layer == nullptr) {
      values.push_back(inputs[next_input++]);
      continue;
    }
    std::vector<Tensor> arguments;
    for (const Edge edge : node.inputs) arguments.push_back(values[static_cast<std::size_t>(edge.id)]);
    values.push_back(Tensor::allocate(arguments[0].shape()));
    node.layer->forward(arguments, values.back(), state);
  }
  return values;
}

// Returns the bytes from the lowest to the highest address of all node outputs.
std::ptrdiff_t extent_of(const Executor& executor, const std::vector<Tensor>& inputs, RunState& state) {
  const std::byte *first = nullptr, *last = nullptr;
  state.observer = [&](const Graph::Node&, const Tensor& output) {
    first = first == nullptr ? output.raw() : std::min<const std::byte*>(first, output.raw());
    last = std::max<const std::byte*>(last, output.raw() + output.bytes());
  };
  executor.run(inputs, state);
  state.observer = nullptr;
  return last - first;
}

TEST(Executor, SharedMemoryGivesTheBitsOfSeparateMemoryOnRandomGraphs) {
  RandomTensors random(1);
  for (int repetition = 0; repetition < 200; ++repetition) {
    const Graph graph = random_graph(random, 1 + random.below(30));
    const Executor shared(graph), separate(graph, MemoryPlanning::separate);
    RunState shared_state(graph), separate_state(graph);
    for (const Dim batch : {3, 7, 1, 7}) {
      const std::vector<Tensor> inputs = {random.integers({batch, 5}, 3), random.integers({batch, 5}, 3)};
      const std::vector<Tensor> values = evaluate(graph, inputs, separate_state);
      const auto from_shared = shared.run(inputs, shared_state);
      const auto from_separate = separate.run(inputs, separate_state);
      for (std::size_t i = 0; i < graph.outputs().size(); ++i) {
        const Tensor& expected = values[static_cast<std::size_t>(graph.outputs()[i].id)];
        ASSERT_TRUE(same_bits(expected, from_shared[i])) << graph.to_text();
        ASSERT_TRUE(same_bits(expected, from_separate[i])) << graph.to_text();
      }
      ASSERT_LE(extent_of(shared, inputs, shared_state), extent_of(separate, inputs, separate_state));
    }
  }
}

TEST(Executor, EverySymbolIsBoundToItsInput) {
  Graph graph("bound");
  const Edge source = graph.input("source", {kSourceRows, 2});
  const Edge target = graph.input("target", {kTargetRows, 3});
  const Edge batch = graph.input("batch", {kBatch, 4});
  for (const Edge edge : {source, target, batch}) {
    graph.output(graph.add("sums " + std::to_string(edge.id), std::make_shared<RowSums>(), {edge}));
  }
  const Executor executor(std::move(graph));
  RunState state(executor.graph());
  const std::vector<Tensor> inputs = {filled({5, 2}, 1), filled({0, 3}, 1), filled({7, 4}, 1)};
  const auto outputs = executor.run(inputs, state);
  EXPECT_EQ(outputs[0].shape(), Shape{5});
  EXPECT_EQ(outputs[1].shape(), Shape{0});
  EXPECT_EQ(outputs[2].shape(), Shape{7});
  EXPECT_EQ(outputs[2].data<float>()[6], 4.0f);
}

TEST(Executor, InputsThatDoNotFitAreNamedInTheError) {
  Graph graph("strict");
  const Edge x = graph.input("x", {kSourceRows, 4});
  const Edge y = graph.input("y", {kSourceRows, 4});
  graph.output(graph.add("sum", toy(), {x, y}));
  const Executor executor(std::move(graph));
  RunState state(executor.graph());
  struct Row {
    std::vector<Tensor> inputs;
    const char* message;
  };
  const std::vector<Row> table = {
      {{filled({2, 4}, 1)}, "graph 'strict': 1 inputs, expected 2"},
      {{filled({2, 5}, 1), filled({2, 4}, 1)}, "graph 'strict', input 'x': float32 [2, 5], expected float32 [S, 4]"},
      {{filled({2, 4}, 1), filled({3, 4}, 1)}, "graph 'strict', input 'y': float32 [3, 4], expected float32 [S, 4]"},
      {{filled({8}, 1), filled({2, 4}, 1)}, "graph 'strict', input 'x': float32 [8], expected float32 [S, 4]"},
      {{filled({2, 4}, 1), Tensor::allocate({2, 4}, DataType::int32)},
       "graph 'strict', input 'y': int32 [2, 4], expected float32 [S, 4]"},
  };
  for (const Row& row : table) EXPECT_EQ(message_of<ShapeError>([&] { executor.run(row.inputs, state); }), row.message);
  const std::vector<Tensor> good = {filled({2, 4}, 1), filled({2, 4}, 2)};
  EXPECT_EQ(executor.run(good, state)[0].data<float>()[7], 4.0f);
}

TEST(Executor, AGraphWithADeadEndIsRefused) {
  Graph graph("small");
  EXPECT_EQ(message_of<ShapeError>([&] { Executor executor(graph); }), "graph 'small' has no output");
  const Edge x = graph.input("x", {1});
  graph.output(graph.add("a", toy(), {x}));
  graph.add("b", toy(), {x});
  EXPECT_EQ(message_of<ShapeError>([&] { Executor executor(graph); }), "graph 'small': node 'b' feeds no output");
}

TEST(Executor, ObserverSeesEveryNodeInOrderWithItsValue) {
  RandomTensors random(3);
  const Graph graph = random_graph(random, 15);
  const Executor executor(graph);
  RunState state(graph);
  const std::vector<Tensor> inputs = {random.integers({2, 5}, 3), random.integers({2, 5}, 3)};
  const std::vector<Tensor> values = evaluate(graph, inputs, state);
  std::vector<std::string> seen;
  state.observer = [&](const Graph::Node& node, const Tensor& output) {
    seen.push_back(node.name);
    EXPECT_TRUE(same_bits(values[static_cast<std::size_t>(graph.find(node.name).id)], output)) << node.name;
  };
  executor.run(inputs, state);
  std::vector<std::string> expected;
  for (int node = 0; node < 15; ++node) expected.push_back("node " + std::to_string(node));
  EXPECT_EQ(seen, expected);
}

TEST(Executor, RunObserverGetsTheTimesOfEachNodeUntilItIsRemoved) {
  RandomTensors random(4);
  const Graph graph = random_graph(random, 3);
  const Executor executor(graph);
  RunState state(graph);
  const std::vector<Tensor> inputs = {filled({2, 5}, 1), filled({2, 5}, 1)};
  std::vector<std::string> seen;
  NodeRun::Time last = NodeRun::Time::clock::now();
  state.run_observer = [&](const NodeRun& run) {
    EXPECT_EQ(&run.graph, &executor.graph());
    seen.push_back(run.node.name);
    // The runs of nodes do not overlap in time.
    EXPECT_LE(last, run.begin);
    EXPECT_LE(run.begin, run.end);
    last = run.end;
  };
  executor.run(inputs, state);
  EXPECT_LE(last, NodeRun::Time::clock::now());
  EXPECT_THAT(seen, testing::ElementsAre("node 0", "node 1", "node 2"));
  state.run_observer = {};
  executor.run(inputs, state);
  EXPECT_EQ(seen.size(), 3U);
}

TEST(RunState, ScratchPiecesOfOneNodeDoNotOverlap) {
  const Graph graph("empty");
  RunState state(graph);
  RandomTensors random(6);
  std::vector<Tensor> pieces;
  for (int i = 0; i < 60; ++i) {
    pieces.push_back(state.scratch({random.below(2000), 1 + random.below(60)}));
    Tensor& piece = pieces.back();
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(piece.raw()) % Tensor::kAlignment, 0u);
    std::fill_n(piece.data<float>(), piece.elements(), static_cast<float>(i));
  }
  for (int i = 0; i < 60; ++i) {
    const Tensor& piece = pieces[static_cast<std::size_t>(i)];
    EXPECT_TRUE(std::all_of(piece.data<float>(), piece.data<float>() + piece.elements(),
                            [i](float value) { return value == static_cast<float>(i); }));
  }
}

TEST(RunState, EachThreadHasItsOwnScratch) {
  const Graph graph("empty");
  RunState state(graph, std::make_shared<ThreadTeam>(3));
  std::vector<float*> scratch;
  for (int thread = 0; thread < 3; ++thread) {
    scratch.push_back(state.thread_scratch(thread, 1000));
    std::fill_n(scratch.back(), 1000, static_cast<float>(thread));
  }
  for (int thread = 0; thread < 3; ++thread) {
    EXPECT_EQ(scratch[static_cast<std::size_t>(thread)][999], static_cast<float>(thread));
    EXPECT_EQ(state.thread_scratch(thread, 500), scratch[static_cast<std::size_t>(thread)]);
  }
}

}  // namespace
}  // namespace encdec
