// Attention over a batch of padded sequences: the two examples of "Dive into Deep Learning"
// (d2l.ai), section 10.3.
//
//     d2l_attention [FOLDER]
//
// FOLDER contains d2l_attention.safetensors and d2l_attention.npz; by default data/.
//
// There are two sources with ten keys each: 2 real keys in the first source and 6 in the second.
// The other keys are padding, which is masked. All keys are equal on purpose, so every query
// attends evenly to the real keys, and the output is the mean of their values.
#include <encdec/engine/executor.h>
#include <encdec/models/checkpoint/npz.h>
#include <encdec/models/checkpoint/safetensors.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>

#include "dense/additive_attention.h"
#include "dense/dot_product_scores.h"
#include "dense/dropout.h"
#include "dense/masked_softmax.h"
#include "dense/weighted_sum.h"
#include "programs/pictures.h"

namespace {

using namespace lessons;

constexpr Dim kKeyDim = 2, kValueDim = 4, kKeys = 10;
constexpr Dim kBatchSize = 2;

// Keys, values and valid lengths of both examples.
struct Source {
  Tensor keys = Tensor::allocate({kBatchSize, kKeys, kKeyDim});
  Tensor values = Tensor::allocate({kBatchSize, kKeys, kValueDim});
  Tensor valid_lengths = Tensor::allocate({kBatchSize}, DataType::int32);

  Source() {
    std::fill_n(keys.data<float>(), keys.elements(), 1.0f);
    // The value of the first key is (0, 1, 2, 3), of the second (4, 5, 6, 7), and so on.
    for (Dim i = 0; i < values.elements(); ++i) values.data<float>()[i] = static_cast<float>(i % (kKeys * kValueDim));
    valid_lengths.data<std::int32_t>()[0] = 2;
    valid_lengths.data<std::int32_t>()[1] = 6;
  }
};

// Inputs of a graph: kBatch sequences, each with kTargetRows queries and kSourceRows keys.
struct AttentionInputs {
  Edge queries, keys, values, valid_lengths;

  AttentionInputs(Graph& graph, Dim query_dim)
      : queries(graph.input("queries", {kBatch, kTargetRows, query_dim})),
        keys(graph.input("keys", {kBatch, kSourceRows, kKeyDim})),
        values(graph.input("values", {kBatch, kSourceRows, kValueDim})),
        valid_lengths(graph.input("valid_lengths", {kBatch}, DataType::int32)) {}
};

// Runs additive attention: a hidden layer compares queries and keys, which may have different
// widths. The whole attention is one node, which never stores all scores at once.
void run_additive(const WeightScope& weights, const Tensor& queries) {
  Graph graph("additive attention");
  const AttentionInputs in(graph, queries.width());
  const AdditiveOptions options{.query_dim = queries.width(), .key_dim = kKeyDim, .hidden_dim = 8};
  const Edge attended = graph.add<AdditiveAttention>(weights / "additive_attention",
                                                     {in.queries, in.keys, in.values, in.valid_lengths}, options);
  graph.output(attended);

  const Executor executor(std::move(graph));
  RunState state(executor.graph());
  // An observer still gets the attention weights of each query.
  Tensor attention = Tensor::allocate({kBatchSize, kKeys});
  state.observe_attention(attended,
                          [&](const AttentionWeights& row) { std::ranges::copy(row.weights, attention.row(row.row)); });
  const Source source;
  const auto outputs = executor.run(std::array{queries, source.keys, source.values, source.valid_lengths}, state);
  show("additive attention: weights", attention, "{:.4f}");
  show("additive attention: outputs", outputs[0], "{:.4f}");
}

// Runs dot-product attention, for queries and keys of equal width. It has separate nodes, as in the
// book, with dropout between softmax and sum. Dropout has an effect in training only.
void run_dot_product(const Tensor& queries) {
  Graph graph("dot-product attention");
  const AttentionInputs in(graph, queries.width());
  const DotProductOptions scaled{.scale = ScoreScale::scaled};
  const Edge scores = graph.add("scores", std::make_shared<DotProductScores>(scaled), {in.queries, in.keys});
  const Edge weights = graph.add("weights", std::make_shared<MaskedSoftmax>(), {scores, in.valid_lengths});
  const Edge kept = graph.add("dropout", std::make_shared<Dropout>(DropoutOptions{.rate = 0.5f}), {weights});
  graph.output(graph.add("outputs", std::make_shared<WeightedSum>(), {kept, in.values}));

  const Executor executor(std::move(graph));
  RunState state(executor.graph());
  state.observer = [](const Graph::Node& node, const Tensor& output) {
    if (node.name == "scores") return;  // random, because the queries are
    show("dot-product attention: " + node.name, output, "{:.4f}");
  };
  const Source source;
  executor.run(std::array{queries, source.keys, source.values, source.valid_lengths}, state);
}

// Runs both examples with the weights and queries of a file, of either format.
void run(const std::shared_ptr<const WeightStore>& file) {
  const WeightScope weights(file);
  run_additive(weights, weights.tensor("additive_queries", {kBatchSize, 1, 20}));
  run_dot_product(weights.tensor("dot_product_queries", {kBatchSize, 1, kKeyDim}));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2) {
    std::fprintf(stderr, "usage: d2l_attention [FOLDER]\n");
    return 2;
  }
  try {
    const std::filesystem::path folder = argc > 1 ? argv[1] : LESSONS_DATA;
    fmt::print("== weights of d2l_attention.safetensors\n\n");
    run(read_safetensors(folder / "d2l_attention.safetensors"));
    fmt::print("== weights of d2l_attention.npz\n\n");
    run(read_npz(folder / "d2l_attention.npz"));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "d2l_attention: %s\n", error.what());
    return 1;
  }
  return 0;
}
