// Builds a whole Transformer layer by layer, as in figure 1 of "Attention Is All You Need" (Vaswani
// et al. 2017).
//
//     tiny_transformer [FILE]      by default data/tiny_transformer.safetensors
//
// The model is complete but tiny: two encoder and two decoder layers of width 8, with random weights. Prints the
// model's two graphs in Graphviz's language (try: dot -Tsvg), the likeliest token after each target token, and whether
// PyTorch computes the same logits.
//
// Letters in shapes: S source tokens, T target tokens, D model dimension, V vocabulary.
#include <encdec/engine/executor.h>
#include <encdec/layers/transformer/add_norm.h>
#include <encdec/layers/transformer/cross_attention.h>
#include <encdec/layers/transformer/embedding.h>
#include <encdec/layers/transformer/feed_forward.h>
#include <encdec/layers/transformer/linear.h>
#include <encdec/layers/transformer/masked_decoder_attention.h>
#include <encdec/layers/transformer/multi_head_attention.h>
#include <encdec/layers/transformer/positional_encoding.h>
#include <encdec/models/checkpoint/safetensors.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <exception>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace encdec;

constexpr Dim kModelDim = 8;
constexpr Dim kVocabulary = 12;
constexpr int kLayers = 2;

const AttentionOptions kAttention{.model_dim = kModelDim, .heads = 2};
const FeedForwardOptions kFeedForward{.model_dim = kModelDim, .hidden_dim = 16, .activation = Activation::relu};
const NormOptions kNorm{.width = kModelDim};

// Adds nodes for the token embedding and the positional encoding. [S] -> [S, D] or [T] -> [T, D]
Edge add_embeddings(Graph& graph, Edge ids, const WeightScope& w) {
  const EmbeddingOptions options{
      .vocabulary = kVocabulary, .model_dim = kModelDim, .scale = std::sqrt(static_cast<float>(kModelDim))};
  const Edge tokens = graph.add<Embedding>(w / "embedding", {ids}, options);
  const auto positions = std::make_shared<PositionalEncoding>(SinusoidLayout::interleaved, kModelDim);
  return graph.add((w / "positional_encoding").path(), positions, {tokens});
}

// Builds the left half of the figure. Every source token attends to every source token.
Graph make_encoder(const WeightScope& weights) {
  Graph graph("encoder");
  Edge x = add_embeddings(graph, graph.input("source_ids", {kSourceRows}, DataType::int32), weights / "encoder");
  for (int layer = 0; layer < kLayers; ++layer) {
    const WeightScope w = weights / "encoder" / layer;
    const Edge attended = graph.add<MultiHeadAttention>(w / "self_attention", {x}, kAttention);
    const Edge mixed = graph.add<AddNorm>(w / "self_attention_norm", {x, attended}, kNorm);
    const Edge transformed = graph.add<FeedForward>(w / "feed_forward", {mixed}, kFeedForward);
    x = graph.add<AddNorm>(w / "feed_forward_norm", {mixed, transformed}, kNorm);
  }
  // Compute the keys and values for each decoder layer's cross-attention once. [S, D] -> [S, 2 D]
  for (int layer = 0; layer < kLayers; ++layer) {
    const WeightScope w = weights / "decoder" / layer / "cross_attention";
    const std::string name = fmt::format("key_values.{}", layer);
    graph.output(graph.add(name, std::make_shared<CrossAttentionKeyValues>(w, kAttention), {x}));
  }
  return graph;
}

// Builds the right half of the figure. Every target token attends to itself and to earlier target tokens, then to all
// source tokens.
Graph make_decoder(const WeightScope& weights) {
  Graph graph("decoder");
  Edge x = add_embeddings(graph, graph.input("target_ids", {kTargetRows}, DataType::int32), weights / "decoder");
  for (int layer = 0; layer < kLayers; ++layer) {
    const WeightScope w = weights / "decoder" / layer;
    const Edge key_values = graph.input(fmt::format("key_values.{}", layer), {kSourceRows, 2 * kModelDim});
    const Edge attended = graph.add<MaskedDecoderAttention>(w / "self_attention", {x}, kAttention);
    const Edge mixed = graph.add<AddNorm>(w / "self_attention_norm", {x, attended}, kNorm);
    const Edge crossed = graph.add<CrossAttention>(w / "cross_attention", {mixed, key_values}, kAttention);
    const Edge informed = graph.add<AddNorm>(w / "cross_attention_norm", {mixed, crossed}, kNorm);
    const Edge transformed = graph.add<FeedForward>(w / "feed_forward", {informed}, kFeedForward);
    x = graph.add<AddNorm>(w / "feed_forward_norm", {informed, transformed}, kNorm);
  }
  const LinearOptions to_logits{.input_width = kModelDim, .output_width = kVocabulary};
  graph.output(graph.add<Linear>(weights / "output", {x}, to_logits));  // [T, V]
  return graph;
}

// Runs the encoder, then the decoder on the whole target at once. The keys and values that the encoder's graph computes
// are inputs of the decoder's graph.
Tensor logits_of(const WeightScope& weights, const Tensor& source_ids, const Tensor& target_ids) {
  const Executor encoder(make_encoder(weights)), decoder(make_decoder(weights));
  fmt::print("{}\n{}\n", encoder.graph().to_dot(), decoder.graph().to_dot());

  const int source_rows = static_cast<int>(source_ids.elements()),
            target_rows = static_cast<int>(target_ids.elements());
  // Encode the source.
  RunState encoder_state(encoder.graph());
  encoder_state.sequences = {{.rows = source_rows}};
  std::vector<Tensor> inputs = {target_ids};
  std::ranges::copy(encoder.run(std::array{source_ids}, encoder_state), std::back_inserter(inputs));

  // Decode the target. The decoder caches the keys and values of each target token, so further
  // tokens could follow one at a time.
  RunState decoder_state(decoder.graph());
  const int slot = decoder_state.cache_index.open();
  decoder_state.cache_index.append(slot, target_rows);
  decoder_state.sequences = {{.rows = target_rows, .slot = slot, .source_rows = source_rows}};
  // Copy the logits, which are in a buffer of `decoder_state`.
  const Tensor logits = decoder.run(inputs, decoder_state)[0];
  Tensor kept = Tensor::allocate(logits.shape());
  std::copy_n(logits.data<float>(), logits.elements(), kept.data<float>());
  return kept;
}

// Returns token ids separated by spaces.
std::string ids_of(const Tensor& ids) {
  const auto* first = ids.data<std::int32_t>();
  return fmt::format("{}", fmt::join(first, first + ids.elements(), " "));
}

void run(const char* path) {
  const auto file = read_safetensors(path);
  const Tensor source_ids = *file->find("source_ids"), target_ids = *file->find("target_ids");
  const Tensor logits = logits_of(WeightScope(file), source_ids, target_ids);

  Tensor likeliest = Tensor::allocate({logits.rows()}, DataType::int32);
  for (std::int64_t row = 0; row < logits.rows(); ++row) {
    const float* first = logits.row(row);
    likeliest.data<std::int32_t>()[row] =
        static_cast<std::int32_t>(std::max_element(first, first + kVocabulary) - first);
  }
  fmt::print("source ids             {}\n", ids_of(source_ids));
  fmt::print("target ids             {}\n", ids_of(target_ids));
  fmt::print("likeliest next ids     {}\n", ids_of(likeliest));

  // The file also contains the logits that PyTorch's TransformerEncoderLayer and
  // TransformerDecoderLayer compute with these weights.
  const Tensor theirs = as_float(*file->find("pytorch_logits"));
  float difference = 0.0f;
  for (std::int64_t i = 0; i < logits.elements(); ++i) {
    difference = std::max(difference, std::abs(logits.data<float>()[i] - theirs.data<float>()[i]));
  }
  fmt::print("PyTorch's logits       {}\n", difference < 1e-4f ? "the same to 4 places" : "others");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2) {
    std::fprintf(stderr, "usage: tiny_transformer [FILE]\n");
    return 2;
  }
  try {
    run(argc > 1 ? argv[1] : ENCDEC_EXAMPLE_INPUT);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tiny_transformer: %s\n", error.what());
    return 1;
  }
  return 0;
}
