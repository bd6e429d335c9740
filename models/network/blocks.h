#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "encdec/engine/graph.h"
#include "encdec/models/network/config.h"
#include "encdec/models/network/output_projection.h"

namespace encdec {

class Stack;

// Return the inputs and the residual option of a layer that may add a residual.
inline std::vector<Edge> inputs_of(Edge x, const std::optional<Edge>& residual) {
  return residual ? std::vector{x, *residual} : std::vector{x};
}
inline Residual residual_of(const std::optional<Edge>& residual) {
  return residual ? Residual::add : Residual::none;
}

// Adds one block of a stack to a graph. Functions take and return hidden states [R, D]. A family with other blocks
// composes them from the functions below (StackConfig::block).
class Block {
 public:
  Block(Stack& stack, int layer) : stack_(stack), layer_(layer) {}

  int number() const { return layer_; }  // from 0
  Stack& stack() const { return stack_; }
  // Uses the weights of another block, as in ALBERT. Blocks with the same weights share their Layer objects.
  void share_weights_of(int layer) { weights_of_ = layer; }

  // Adds the block of figure 1 (Vaswani et al. 2017).
  Edge add(Edge x) const { return feed_forward(cross_attention(self_attention(x))); }

  // Add a sub-layer with residual and norm. If the stack has no cross-attention, cross_attention() returns `x`.
  Edge self_attention(Edge x) const;
  Edge cross_attention(Edge x) const;
  Edge feed_forward(Edge x) const;

  // Adds a sub-layer with residual and norm, where f(x, residual) adds the sub-layer's node.
  //   norm last:  x -> norm(x + f(x)); f gets no residual
  //   norm first: x -> x + f(norm(x)); f adds the residual x
  //   norms both: x -> x + norm(f(norm(x))); f gets no residual; the second norm is NAME_after
  template <class Sublayer>
  Edge with_residual(std::string_view norm, Edge x, const Sublayer& f) const;
  // Add a sub-layer without norm: f(x), or f(x) + residual.
  Edge attend(Edge x, std::optional<Edge> residual = {}) const;
  Edge cross_attend(Edge x, Edge key_values, std::optional<Edge> residual = {}) const;
  Edge feed(Edge x, std::optional<Edge> residual = {}) const;
  // {x} -> norm(x), {x, y} -> norm(x + y)
  Edge norm(std::string_view name, std::vector<Edge> inputs) const;
  // Return whether the stack has cross-attention, and this block's keys and values for it.
  bool has_cross_attention() const;
  Edge key_values() const;
  // Adds a layer with the block's weights.
  template <class L, class Options>
  Edge layer(std::string_view name, std::vector<Edge> inputs, const Options& options) const;

 private:
  std::string name_of(std::string_view node) const;
  AttentionOptions attention(const std::optional<Edge>& residual) const;
  bool gathers() const;
  Edge gather(std::string_view name, Edge x, Edge rows) const;

  Stack& stack_;
  int layer_;
  int weights_of_ = layer_;
};

// Adds an encoder or a decoder to a graph.
class Stack {
 public:
  // The rows to which each row attends in self-attention.
  enum class Reading : std::uint8_t {
    all,       // all rows of the sequence
    earlier,   // the row itself and earlier rows of the same run
    cached,    // the row itself and all earlier rows; rows of earlier runs come from the cache
    gathered,  // all rows; the last block computes only the rows in the graph's input "rows"
  };

  // Adds nodes to `graph`, with weights from `weights`. If the embedding is stored as the weights of
  // `projection`, both share one copy. Keeps references to `graph`, `config` and `projection`.
  Stack(Graph& graph, const StackConfig& config, WeightScope weights, Reading reading,
        const OutputProjection& projection)
      : graph_(graph), config_(config), weights_(std::move(weights)), reading_(reading), projection_(projection) {}

  Graph& graph() const { return graph_; }
  const StackConfig& config() const { return config_; }
  const WeightScope& weights() const { return weights_; }
  Reading reading() const { return reading_; }
  Dim width() const { return config_.model_dim; }  // D

  // Adds the whole stack and returns the last hidden states. `key_values_of` adds the keys and values
  // for a layer's cross-attention; null if there is none.
  Edge add(Edge input, std::function<Edge(int layer)> key_values_of = nullptr);

  // Parts of the stack, for families that compose it differently (StackConfig::compose).
  // Adds the embeddings of token ids, `width` numbers each, with their types, positions and norm.
  Edge embed_tokens(Edge token_ids, Dim width);
  Edge embed_tokens(Edge token_ids) { return embed_tokens(token_ids, width()); }
  // Adds all blocks and the norm after them. The result becomes an output of the graph.
  Edge add_blocks(Edge x);
  Edge norm(std::string_view name, std::vector<Edge> inputs) const;
  Edge add_positions(std::string_view name, std::vector<Edge> inputs, Dim width) const;

 private:
  friend class Block;

  Graph& graph_;
  const StackConfig& config_;
  const WeightScope weights_;
  const Reading reading_;
  const OutputProjection& projection_;
  std::function<Edge(int layer)> key_values_of_;
  std::map<std::string, std::shared_ptr<const Layer>> layers_;  // layers of blocks, by weight path
};

template <class Sublayer>
Edge Block::with_residual(std::string_view name, Edge x, const Sublayer& f) const {
  const NormOrder order = stack_.config().norm_order;
  if (order == NormOrder::last) return norm(name, {x, f(x, std::nullopt)});
  if (order == NormOrder::first) return f(norm(name, {x}), std::optional(x));
  NormOptions options = stack_.config().norm_of(stack_.width());
  options.adds_last = true;
  return layer<AddNorm>(std::string(name) + "_after", {f(norm(name, {x}), std::nullopt), x}, options);
}

template <class L, class Options>
Edge Block::layer(std::string_view name, std::vector<Edge> inputs, const Options& options) const {
  const WeightScope weights = stack_.weights() / weights_of_ / name;
  std::shared_ptr<const Layer>& shared = stack_.layers_[weights.path()];
  if (shared == nullptr) shared = std::make_shared<L>(weights, options);
  return stack_.graph().add(name_of(name), shared, std::move(inputs));
}

}  // namespace encdec
