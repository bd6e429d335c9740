#include "encdec/models/network/blocks.h"

#include "encdec/layers/transformer/cross_attention.h"
#include "encdec/layers/transformer/embedding.h"
#include "encdec/layers/transformer/gather.h"
#include "encdec/layers/transformer/gathered_attention.h"
#include "encdec/layers/transformer/masked_decoder_attention.h"
#include "encdec/layers/transformer/multi_head_attention.h"
#include "encdec/layers/transformer/token_type_embedding.h"

namespace encdec {

Edge Block::norm(std::string_view name, std::vector<Edge> inputs) const {
  return layer<AddNorm>(name, std::move(inputs), stack_.config().norm_of(stack_.width()));
}

// Returns the full name of a node, such as "encoder.2.self_attention".
std::string Block::name_of(std::string_view node) const {
  return (stack_.weights() / layer_ / node).path();
}

// Returns true if this block computes only the rows in the graph's input "rows".
bool Block::gathers() const {
  return stack_.reading() == Stack::Reading::gathered && layer_ + 1 == stack_.config().layers;
}

Edge Block::gather(std::string_view name, Edge x, Edge rows) const {
  return stack_.graph().add(name_of(name), std::make_shared<Gather>(), {x, rows});
}

AttentionOptions Block::attention(const std::optional<Edge>& residual) const {
  AttentionOptions options = stack_.config().attention_of(layer_);
  options.residual = residual_of(residual);
  return options;
}

Edge Block::attend(Edge x, std::optional<Edge> residual) const {
  constexpr std::string_view kName = "self_attention";
  AttentionOptions options = attention(residual);
  if (stack_.reading() == Stack::Reading::earlier) options.limits.after = 0;
  return stack_.reading() == Stack::Reading::cached
             ? layer<MaskedDecoderAttention>(kName, inputs_of(x, residual), options)
             : layer<MultiHeadAttention>(kName, inputs_of(x, residual), options);
}

Edge Block::self_attention(Edge x) const {
  constexpr std::string_view kName = "self_attention", kNorm = "self_attention_norm";
  if (!gathers()) return with_residual(kNorm, x, [this](Edge y, auto residual) { return attend(y, residual); });
  // Compute queries and the residual for the selected rows only, but keys and values for all rows.
  const Edge rows = stack_.graph().input("rows", {kTargetRows}, DataType::int32);
  const Edge gathered = gather("rows", x, rows);
  if (stack_.config().norm_order == NormOrder::last) {
    return norm(kNorm, {gathered, layer<GatheredAttention>(kName, {gathered, x}, attention({}))});
  }
  const Edge normalized = norm(kNorm, {x});
  return layer<GatheredAttention>(kName, {gather("normalized_rows", normalized, rows), normalized, gathered},
                                  attention(gathered));
}

bool Block::has_cross_attention() const {
  return stack_.key_values_of_ != nullptr;
}

Edge Block::key_values() const {
  return stack_.key_values_of_(layer_);
}

Edge Block::cross_attend(Edge x, Edge key_values, std::optional<Edge> residual) const {
  std::vector<Edge> inputs = inputs_of(x, residual);
  inputs.insert(inputs.begin() + 1, key_values);
  return layer<CrossAttention>("cross_attention", std::move(inputs), attention(residual));
}

Edge Block::cross_attention(Edge x) const {
  if (!has_cross_attention()) return x;
  const Edge from = key_values();
  return with_residual("cross_attention_norm", x,
                       [&](Edge y, auto residual) { return cross_attend(y, from, residual); });
}

Edge Block::feed(Edge x, std::optional<Edge> residual) const {
  const StackConfig& config = stack_.config();
  return layer<FeedForward>("feed_forward", inputs_of(x, residual),
                            FeedForwardOptions{.kind = config.feed_forward,
                                               .model_dim = config.model_dim,
                                               .hidden_dim = config.hidden_dim,
                                               .activation = config.activation,
                                               .bias = config.attention.bias,
                                               .residual = residual_of(residual)});
}

Edge Block::feed_forward(Edge x) const {
  return with_residual("feed_forward_norm", x, [this](Edge y, auto residual) { return feed(y, residual); });
}

Edge Stack::norm(std::string_view name, std::vector<Edge> inputs) const {
  // compose() may normalise rows whose width differs from the stack's width.
  const NormOptions options = config_.norm_of(graph_.node(inputs.front()).shape[1]);
  return graph_.add<AddNorm>(weights_ / name, std::move(inputs), options);
}

Edge Stack::add_positions(std::string_view name, std::vector<Edge> inputs, Dim width) const {
  PositionOptions positions = config_.positions;
  positions.model_dim = width;
  return graph_.add<PositionalEncoding>(weights_ / name, std::move(inputs), positions);
}

Edge Stack::embed_tokens(Edge token_ids, Dim width) {
  const WeightScope table = weights_ / "embedding";
  Edge x = graph_.add<Embedding>(table, {token_ids},
                                 EmbeddingOptions{.vocabulary = config_.vocabulary,
                                                  .model_dim = width,
                                                  .zero_row = config_.zero_start_token,
                                                  .scale = config_.embedding_scale,
                                                  .tied = projection_.tied_to(table, {config_.vocabulary, width})});
  // Add the embeddings of the token types, as in BERT.
  if (config_.token_types > 0) {
    const Edge types = graph_.input("token_types", {kSourceRows}, DataType::int32);
    x = graph_.add<TokenTypeEmbedding>(weights_ / "token_type_embedding", {x, types},
                                       TokenTypeOptions{.types = config_.token_types, .model_dim = width});
  }
  constexpr std::string_view kNorm = "embedding_norm";
  if (config_.embedding_norm == EmbeddingNorm::before_positions) x = norm(kNorm, {x});
  if (config_.positions.kind != PositionOptions::Kind::none) {
    std::vector<Edge> inputs{x};
    // The layer needs the token ids, because pad tokens have no position.
    if (config_.positions.pad_token) inputs.push_back(token_ids);
    x = add_positions("positional_encoding", std::move(inputs), width);
  }
  return config_.embedding_norm == EmbeddingNorm::after_positions ? norm(kNorm, {x}) : x;
}

Edge Stack::add_blocks(Edge x) {
  for (int layer = 0; layer < config_.layers; ++layer) {
    Block block(*this, layer);
    x = config_.block ? config_.block(block, x) : block.add(x);
  }
  // If norms precede the sub-layers, the last sub-layer's output is not normalised yet.
  if (config_.norm_order != NormOrder::last) x = norm("norm", {x});
  graph_.output(x);
  return x;
}

Edge Stack::add(Edge input, std::function<Edge(int layer)> key_values_of) {
  key_values_of_ = std::move(key_values_of);
  return config_.compose ? config_.compose(*this, input) : add_blocks(embed_tokens(input));
}

}  // namespace encdec
