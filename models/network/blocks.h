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

// Returns the inputs of a layer that may add a residual, and whether it does.
inline std::vector<Edge> inputs_of(Edge x, const std::optional<Edge>& residual) {
  return residual ? std::vector{x, *residual} : std::vector{x};
}
inline Residual residual_of(const std::optional<Edge>& residual) {
  return residual ? Residual::add : Residual::none;
}

// One block of a stack while its graph is made. Each sub-layer takes and returns hidden states [R, D]. A family whose
// blocks differ composes its own (StackConfig::block).
class Block {
 public:
  Block(Stack& stack, int layer) : stack_(stack), layer_(layer) {}

  int number() const { return layer_; }  // number of the block, from 0
  Stack& stack() const { return stack_; }
  // Makes the sub-layers take the weights of another layer, as in ALBERT. Layers with the same weights are one object.
  void share_weights_of(int layer) { weights_of_ = layer; }

  // The block of figure 1.
  Edge add(Edge x) const { return feed_forward(cross_attention(self_attention(x))); }

  // Sub-layers, each with its residual connection and norm. cross_attention() returns `x` if the stack reads no memory.
  Edge self_attention(Edge x) const;
  Edge cross_attention(Edge x) const;
  Edge feed_forward(Edge x) const;

  // Adds a sub-layer f with its residual connection and norm. f(x, residual) adds its node.
  //   norm last:  x -> norm(x + f(x));  there is no residual
  //   norm first: x -> x + f(norm(x));  f adds the residual x
  //   norms both: x -> x + norm(f(norm(x)));  there is no residual, and the second norm is called NAME_after
  template <class Sublayer>
  Edge with_residual(std::string_view norm, Edge x, const Sublayer& f) const;
  // The sub-layers alone: f(x), or f(x) + residual if there is one.
  Edge attend(Edge x, std::optional<Edge> residual = {}) const;
  Edge cross_attend(Edge x, Edge memory, std::optional<Edge> residual = {}) const;
  Edge feed(Edge x, std::optional<Edge> residual = {}) const;
  // {x} -> norm(x), {x, y} -> norm(x + y)
  Edge norm(std::string_view name, std::vector<Edge> inputs) const;
  // Whether the stack is a decoder that reads memories, and the memory of this block.
  bool reads_memory() const;
  Edge memory() const;
  // Adds a layer with weights of the block.
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

// An encoder or a decoder while its graph is made.
class Stack {
 public:
  // The rows that a row of self-attention sees.
  enum class Reading : std::uint8_t {
    all,       // all rows of their sequence, at once
    earlier,   // the rows up to their own, at once
    cached,    // the rows up to their own; rows of earlier runs come from the cache
    gathered,  // all rows; the last block computes only the rows of the graph's input "rows"
  };

  // Adds to `graph`, with weights of the scope `weights`. An embedding with the weights of `projection` shares them.
  // Keeps references to `graph`, `config` and `projection`.
  Stack(Graph& graph, const StackConfig& config, WeightScope weights, Reading reading,
        const OutputProjection& projection)
      : graph_(graph), config_(config), weights_(std::move(weights)), reading_(reading), projection_(projection) {}

  Graph& graph() const { return graph_; }
  const StackConfig& config() const { return config_; }
  const WeightScope& weights() const { return weights_; }
  Reading reading() const { return reading_; }
  Dim width() const { return config_.model_dim; }  // D

  // Adds the whole stack, from its input to the last hidden states. `memory_of` adds the memory of a layer's
  // cross-attention; null if there is none.
  Edge add(Edge input, std::function<Edge(int layer)> memory_of = nullptr);

  // Parts of it, for families that compose their own (StackConfig::compose).
  // The embeddings of token ids, of `width` numbers, with their types, positions and norm.
  Edge embed_tokens(Edge token_ids, Dim width);
  Edge embed_tokens(Edge token_ids) { return embed_tokens(token_ids, width()); }
  // All blocks and the norm after them. The result becomes an output of the graph.
  Edge add_blocks(Edge x);
  Edge norm(std::string_view name, std::vector<Edge> inputs) const;
  // The stack's position encodings.
  Edge add_positions(std::string_view name, std::vector<Edge> inputs, Dim width) const;

 private:
  friend class Block;

  Graph& graph_;
  const StackConfig& config_;
  const WeightScope weights_;
  const Reading reading_;
  const OutputProjection& projection_;
  std::function<Edge(int layer)> memory_of_;
  std::map<std::string, std::shared_ptr<const Layer>> layers_;  // layers of blocks, by the path of their weights
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
