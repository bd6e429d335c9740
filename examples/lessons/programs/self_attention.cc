// Self-attention with numbers small enough to check by hand.
//
// There are three tokens, each a row of four numbers. Three matrices, which a model would learn,
// turn each row into a query (what the token looks for), a key (what it offers) and a value (what
// it passes on). A token's output is a weighted sum of all values. A weight depends on how well the
// token's query matches the value's key.
#include <encdec/engine/executor.h>
#include <encdec/layers/transformer/linear.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <memory>
#include <vector>

#include "dense/dot_product_scores.h"
#include "dense/masked_softmax.h"
#include "dense/weighted_sum.h"
#include "programs/pictures.h"

namespace {

using namespace lessons;

constexpr Dim kWidth = 4;    // numbers in a token's row
constexpr Dim kHeadDim = 3;  // numbers in a query, a key or a value

// Transposes a matrix W [kWidth, kHeadDim], written for x W, to [out, in] as in checkpoints.
Tensor transposed(const Tensor& w) {
  Tensor weight = Tensor::allocate({w.shape()[1], w.shape()[0]});
  for (Dim in = 0; in < w.shape()[0]; ++in) {
    for (Dim out = 0; out < w.shape()[1]; ++out) weight.row(out)[in] = w.row(in)[out];
  }
  return weight;
}

// Returns weights as a checkpoint would store them.
WeightScope made_up_weights() {
  const Shape shape{kWidth, kHeadDim};
  auto store = std::make_shared<WeightStore>("by hand");
  store->add("keys.weight", transposed(matrix(shape, {0, 0, 1,  //
                                                      1, 1, 0,  //
                                                      0, 1, 0,  //
                                                      1, 1, 0})));
  store->add("queries.weight", transposed(matrix(shape, {1, 0, 1,  //
                                                         1, 0, 0,  //
                                                         0, 0, 1,  //
                                                         0, 1, 1})));
  store->add("values.weight", transposed(matrix(shape, {0, 2, 0,  //
                                                        0, 3, 0,  //
                                                        1, 0, 3,  //
                                                        1, 1, 0})));
  return WeightScope(std::shared_ptr<const WeightStore>(std::move(store)));
}

// Builds the network, one node per line. kSourceRows means any number of tokens.
Graph self_attention(const WeightScope& weights) {
  const LinearOptions projection{.input_width = kWidth, .output_width = kHeadDim, .bias = Bias::none};
  Graph graph("self-attention");
  const Edge x = graph.input("x", {kSourceRows, kWidth});
  const Edge keys = graph.add<Linear>(weights / "keys", {x}, projection);
  const Edge queries = graph.add<Linear>(weights / "queries", {x}, projection);
  const Edge values = graph.add<Linear>(weights / "values", {x}, projection);
  // Scores: how well each query matches each key. Models divide them by sqrt(kHeadDim), but whole
  // numbers are easier to follow.
  const DotProductOptions plain{.scale = ScoreScale::plain};
  const Edge scores = graph.add("scores", std::make_shared<DotProductScores>(plain), {queries, keys});
  // The softmax turns each row of scores into positive weights with sum 1. Without lengths it masks
  // no score: every token attends to every token.
  const Edge softmax = graph.add("softmax", std::make_shared<MaskedSoftmax>(), {scores});
  graph.output(graph.add("outputs", std::make_shared<WeightedSum>(), {softmax, values}));
  return graph;
}

void run() {
  const Tensor x = matrix({3, kWidth}, {1, 0, 1, 0,  //
                                        0, 2, 0, 2,  //
                                        1, 1, 1, 1});
  show("x", x, "{:g}");

  const Executor executor(self_attention(made_up_weights()));
  RunState state(executor.graph());
  // Print each node's output after the node has run, and keep the values.
  Tensor values = Tensor::allocate({3, kHeadDim});
  state.observer = [&](const Graph::Node& node, const Tensor& output) {
    show(node.name, output, node.name == "softmax" ? "{:.4e}" : node.name == "outputs" ? "{:.4f}" : "{:g}");
    if (node.name == "values") std::copy_n(output.data<float>(), output.elements(), values.data<float>());
  };
  executor.run(std::array{x}, state);

  // By hand, one would round the softmax. The outputs are then simple sums of values.
  const Tensor rounded = matrix({3, 3}, {0.0f, 0.5f, 0.5f,  //
                                         0.0f, 1.0f, 0.0f,  //
                                         0.0f, 0.9f, 0.1f});
  show("softmax, rounded by hand", rounded, "{:g}");
  Graph pooling("pooling");
  const Edge weights = pooling.input("weights", {kTargetRows, kSourceRows});
  pooling.output(pooling.add("outputs", std::make_shared<WeightedSum>(),
                             {weights, pooling.input("values", {kSourceRows, kHeadDim})}));
  const Executor pool(std::move(pooling));
  RunState pool_state(pool.graph());
  show("outputs of the rounded softmax", pool.run(std::array{rounded, values}, pool_state)[0], "{:g}");
}

}  // namespace

int main() {
  try {
    run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "self_attention: %s\n", error.what());
    return 1;
  }
  return 0;
}
