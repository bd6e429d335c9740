// Attention over long inputs: to all rows, to a window, and to shortened keys. Heat maps show the
// weights.
//
// Queries and keys are one-hot vectors of words, so each word attends to its other occurrences.
#include <encdec/engine/executor.h>
#include <encdec/layers/transformer/multi_head_attention.h>

#include "inputs/one_hot.h"
#include "long_inputs/local_attention.h"
#include "long_inputs/memory_compressed_attention.h"
#include "programs/pictures.h"

namespace {

using namespace lessons;

const std::vector<std::string> kText = {"the", "cat", "sat", "on", "the", "mat", "and",
                                        "the", "dog", "sat", "on", "the", "rug"};
constexpr Dim kVocabulary = 8;
constexpr int kWindow = 2;
constexpr Dim kStride = 3;
// One head as wide as the vocabulary. Equal words have a score of 2.
constexpr AttentionOptions kAttention{
    .model_dim = kVocabulary, .bias = Bias::none, .key_bias = Bias::none, .score_scale = 2.0f};

// Returns the ids of words, numbered in the order in which they first occur.
Tensor ids_of(const std::vector<std::string>& text) {
  std::vector<std::string> known;
  std::vector<std::int32_t> ids;
  for (const std::string& word : text) {
    const auto found = std::ranges::find(known, word);
    ids.push_back(static_cast<std::int32_t>(found - known.begin()));
    if (found == known.end()) known.push_back(word);
  }
  return token_ids(ids);
}

// Returns weights for all layers: projections are identities.
WeightScope weights() {
  // Each output of a convolution is the sum of kStride rows.
  Tensor sum = Tensor::allocate({kVocabulary, kVocabulary, kStride});
  for (Dim channel = 0; channel < kVocabulary; ++channel) {
    for (Dim t = 0; t < kStride; ++t) sum.data<float>()[(channel * kVocabulary + channel) * kStride + t] = 1.0f;
  }
  const Tensor one = diagonal(kVocabulary, 1.0f);
  return weights_of({{"query.weight", one},
                     {"key.weight", one},
                     {"value.weight", one},
                     {"output.weight", one},
                     {"key_convolution.weight", sum},
                     {"value_convolution.weight", sum}});
}

// Runs an attention layer on the text. Returns the weights of each row, and in the title the number
// of scores that were computed.
HeatMap attend(const std::string& name, std::shared_ptr<const Layer> layer, Dim key_count) {
  Graph graph("long inputs");
  const Edge ids = graph.input("ids", {kSourceRows}, DataType::int32);
  const Edge words = graph.add("words", std::make_shared<OneHot>(kVocabulary), {ids});
  const Edge attended = graph.add("attention", std::move(layer), {words});
  graph.output(attended);
  // Collect the weights while the graph runs. A row's weights begin at `first_key`.
  const Executor executor(std::move(graph));
  RunState state(executor.graph());
  const auto rows = static_cast<Dim>(kText.size());
  state.sequences = {{.first_row = 0, .rows = static_cast<int>(rows)}};
  Tensor seen = Tensor::allocate({rows, key_count});
  std::size_t scores = 0;
  state.observe_attention(attended, [&](const AttentionWeights& row) {
    std::ranges::copy(row.weights, seen.row(row.row) + row.first_key);
    scores += row.weights.size();
  });
  executor.run(std::array{ids_of(kText)}, state);
  return {fmt::format("{}: {} scores", name, scores), seen, kText};
}

void run_lesson(bool svg) {
  const auto rows = static_cast<Dim>(kText.size());
  const auto local = [](WindowSides sides) {
    return std::make_shared<LocalAttention>(
        weights(), LocalAttentionOptions{.attention = kAttention, .window = kWindow, .sides = sides});
  };
  const std::array maps = {
      attend("all rows", std::make_shared<MultiHeadAttention>(weights(), kAttention), rows),
      attend("a window", local(WindowSides::both), rows), attend("rows before", local(WindowSides::before), rows),
      attend("threes",
             std::make_shared<MemoryCompressedAttention>(
                 weights(),
                 MemoryCompressedAttentionOptions{
                     .attention = kAttention, .kernel = kStride, .stride = kStride, .convolution_bias = Bias::none}),
             (rows + kStride - 1) / kStride)};
  if (svg) return print_svg(maps);
  print_maps(maps);
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(argc, argv, run_lesson);
}
