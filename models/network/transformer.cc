#include "encdec/models/network/transformer.h"

#include <fmt/format.h>

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "encdec/layers/transformer/attention_heads.h"
#include "encdec/layers/transformer/convolution_1d.h"
#include "encdec/layers/transformer/cross_attention.h"
#include "encdec/layers/transformer/embedding.h"
#include "encdec/layers/transformer/frame_embedding.h"
#include "encdec/layers/transformer/gather.h"
#include "encdec/layers/transformer/gathered_attention.h"
#include "encdec/layers/transformer/group_norm.h"
#include "encdec/layers/transformer/masked_decoder_attention.h"
#include "encdec/layers/transformer/multi_head_attention.h"
#include "encdec/layers/transformer/simple_recurrent_unit.h"
#include "encdec/layers/transformer/token_type_embedding.h"
#include "encdec/models/network/output_projection.h"

namespace encdec {
namespace {

// Returns whether sub-layers add the residual. If the norm comes last, AddNorm adds it.
Residual sublayer_residual(const TransformerConfig& config) {
  return config.norm_order == NormOrder::first ? Residual::add : Residual::none;
}

AttentionOptions attention_options(const TransformerConfig& config, const StackConfig& stack, int layer) {
  AttentionOptions options{.model_dim = config.width_of(stack),
                           .heads = stack.heads,
                           .head_dim = stack.head_dim > 0 ? stack.head_dim : config.head_dim,
                           .bias = config.bias,
                           .key_bias = config.key_bias.value_or(config.bias),
                           .residual = sublayer_residual(config),
                           .score_scale = config.score_scale,
                           .key_value_heads = stack.key_value_heads};
  if (!stack.layer_attention.empty()) {
    const LayerAttention& own = stack.layer_attention[static_cast<std::size_t>(layer)];
    options.rotary = own.rotary;
    options.window = own.window;
    options.ahead = own.ahead;
  }
  if (config.divide_scores_by_layer) options.score_scale = options.scale() / static_cast<float>(layer + 1);
  return options;
}

NormOptions norm_options(const TransformerConfig& config, Dim width) {
  return {.kind = config.norm, .width = width, .epsilon = config.norm_epsilon, .bias = config.norm_bias};
}

// Adds an encoder or decoder to a graph, with the weights of its scope.
class StackBuilder {
 public:
  StackBuilder(Graph& graph, const TransformerConfig& config, const StackConfig& stack, WeightScope weights)
      : graph_(graph), config_(config), stack_(stack), width_(config.width_of(stack)), weights_(std::move(weights)) {}

  using MemoryOfLayer = std::function<Edge(int layer)>;

  // Adds the whole stack, from token ids or frames of sound to the last hidden states, which become an output of the
  // graph. `memory_of` adds the memory of a layer's cross-attention; null if there is none.
  template <class SelfAttention>
  Edge add(Edge input, const OutputProjection& projection, const MemoryOfLayer& memory_of) {
    return add_layers<SelfAttention>(
        stack_.source_kind() == SourceKind::frames
            ? add_embedded_frames(input)
            : add_embedded_tokens(input,
                                  projection.tied_to(weights_ / "embedding", {stack_.vocabulary, embedding_width()})),
        memory_of);
  }

  // The same from the embeddings.
  template <class SelfAttention>
  Edge add_layers(Edge x, const MemoryOfLayer& memory_of) {
    const Edge embedded = x;
    for (int layer = 0; layer < stack_.layers; ++layer) {
      if (config_.gathers_rows && layer + 1 == stack_.layers) {
        x = add_gathered_block(layer, x);
        continue;
      }
      x = add_block<SelfAttention>(layer, x, memory_of);
      if (layer == 0 && stack_.convolution.kernel > 0) {
        x = add_norm(weights_ / "convolution_norm", {x, add_convolution(embedded)});
      }
    }
    if (config_.norm_order == NormOrder::first) x = add_norm(weights_ / "norm", {x});
    graph_.output(x);
    return x;
  }

  // Adds the convolutions of SoundFront::waveform. Their last outputs may reach into the zeros after a source.
  Edge add_waveform_front(Edge samples, Edge positions) {
    Edge x = samples;
    const std::array widths = {Dim{1}, width_, 2 * width_, width_};
    Dim positions_per_row = stack_.frames.per_row;
    for (std::size_t i = 0; i < kWaveformConvolutions.size(); ++i) {
      const auto [kernel, stride] = kWaveformConvolutions[i];
      const WeightScope scope = weights_ / fmt::format("convolution_{}", i + 1);
      x = graph_.add<Convolution1d>(i == 0 ? scope.in_float32() : scope, {x},
                                    Convolution1dOptions{.input_width = widths[i],
                                                         .output_width = widths[i + 1],
                                                         .kernel = kernel,
                                                         .stride = stride,
                                                         .bias = i == 0 ? Bias::none : Bias::required,
                                                         .activation = i == 0 ? Activation::tanh : Activation::gelu,
                                                         .positions_per_row = positions_per_row});
      positions_per_row /= stride;
      if (i == 0) {
        x = graph_.add<GroupNorm>(weights_ / "group_norm", {x, positions},
                                  GroupNormOptions{.channels = width_, .positions_per_row = positions_per_row});
      }
    }
    graph_.output(x);
    return x;
  }

  // Adds the embeddings of SoundFront::streaming.
  Edge add_streaming_front(Edge samples) {
    constexpr Dim kFrames = FrameOptions::kFramesPerRow, kKernel = 5, kStride = 2;
    Edge x = graph_.add<FrameEmbedding>(
        weights_ / "frame_embedding", {samples},
        FrameEmbeddingOptions{
            .frame = stack_.frames.per_row / kFrames, .frames_per_row = kFrames, .model_dim = width_});
    Convolution1dOptions options{.input_width = width_,
                                 .output_width = 2 * width_,
                                 .kernel = kKernel,
                                 .stride = kStride,
                                 .padding = kKernel - 1,
                                 .activation = Activation::silu,
                                 .positions_per_row = kFrames};
    x = graph_.add<Convolution1d>(weights_ / "convolution_1", {x}, options);
    std::swap(options.input_width, options.output_width);
    options.activation = Activation::identity;
    options.positions_per_row /= kStride;
    return graph_.add<Convolution1d>(weights_ / "convolution_2", {x}, options);
  }

  // Adds what SoundFront::streaming does to the last hidden states before decoders read them.
  Edge add_decoder_view(Edge hidden) {
    PositionOptions positions = stack_.positions;
    positions.model_dim = width_;
    const Edge x = graph_.add<PositionalEncoding>(weights_ / "memory_positions", {hidden}, positions);
    if (width_ == config_.model_dim) return x;
    return graph_.add<Linear>(
        weights_ / "memory_projection", {x},
        LinearOptions{.input_width = width_, .output_width = config_.model_dim, .bias = Bias::none});
  }

 private:
  Dim embedding_width() const { return stack_.embedding_dim > 0 ? stack_.embedding_dim : width_; }

  Edge add_norm(const WeightScope& norm, std::vector<Edge> inputs) {
    const Dim width = graph_.node(inputs.front()).shape[1];
    return graph_.add<AddNorm>(norm, std::move(inputs), norm_options_of(width));
  }

  NormOptions norm_options_of(Dim width) const {
    NormOptions options = norm_options(config_, width);
    options.less_one = stack_.norms_less_one;
    return options;
  }

  // Adds a node of block number `layer`. Blocks that share their weights share the node's layer, which packs them once.
  template <class L, class Options>
  Edge add_node(int layer, std::string_view name, std::vector<Edge> inputs, const Options& options) {
    const WeightScope weights = weights_ / stack_.weights_of(layer) / name;
    std::shared_ptr<const Layer>& shared = layers_[weights.path()];
    if (shared == nullptr) shared = std::make_shared<L>(weights, options);
    return graph_.add((weights_ / layer / name).path(), shared, std::move(inputs));
  }

  Edge add_norm(int layer, std::string_view name, std::vector<Edge> inputs) {
    return add_node<AddNorm>(layer, name, std::move(inputs), norm_options_of(width_));
  }

  Edge add_convolution(Edge x) {
    return graph_.add<Convolution1d>(weights_ / "convolution", {x},
                                     Convolution1dOptions{.input_width = width_,
                                                          .output_width = width_,
                                                          .kernel = stack_.convolution.kernel,
                                                          .padding = stack_.convolution.kernel / 2,
                                                          .activation = stack_.convolution.activation});
  }

  // Adds Whisper's two convolutions and the positions.
  Edge add_embedded_frames(Edge frames) {
    Convolution1dOptions options{.input_width = stack_.frames.width,
                                 .output_width = width_,
                                 .padding = 1,
                                 .activation = Activation::gelu,
                                 .positions_per_row = stack_.frames.per_row};
    Edge x = graph_.add<Convolution1d>(weights_ / "convolution_1", {frames}, options);
    options.input_width = width_;
    options.stride = stack_.frames.per_row;
    x = graph_.add<Convolution1d>(weights_ / "convolution_2", {x}, options);
    PositionOptions positions = stack_.positions;
    positions.model_dim = width_;
    return graph_.add<PositionalEncoding>(weights_ / "positional_encoding", {x}, positions);
  }

  // `tied` is the output projection that has the same table, or null.
  Edge add_embedded_tokens(Edge token_ids, std::shared_ptr<const Linear> tied) {
    Edge x = graph_.add<Embedding>(weights_ / "embedding", {token_ids},
                                   EmbeddingOptions{.vocabulary = stack_.vocabulary,
                                                    .model_dim = embedding_width(),
                                                    .zero_row = stack_.zero_start_token,
                                                    .scale = stack_.embedding_scale,
                                                    .tied = std::move(tied)});
    if (config_.token_types > 0) {
      const Edge types = graph_.input("token_types", {kSourceRows}, DataType::int32);
      x = graph_.add<TokenTypeEmbedding>(
          weights_ / "token_type_embedding", {x, types},
          TokenTypeOptions{.types = config_.token_types, .model_dim = embedding_width()});
    }
    const WeightScope norm = weights_ / "embedding_norm";
    if (stack_.embedding_norm == EmbeddingNorm::before_positions) x = add_norm(norm, {x});
    if (stack_.positions.kind != PositionOptions::Kind::none) {
      PositionOptions positions = stack_.positions;
      positions.model_dim = embedding_width();
      std::vector<Edge> inputs{x};
      if (positions.pad_token) inputs.push_back(token_ids);
      x = graph_.add<PositionalEncoding>(weights_ / "positional_encoding", std::move(inputs), positions);
    }
    if (stack_.embedding_norm == EmbeddingNorm::after_positions) x = add_norm(norm, {x});
    if (stack_.embedding_dim == 0) return x;
    return graph_.add<Linear>(weights_ / "embedding_projection", {x},
                              LinearOptions{.input_width = embedding_width(), .output_width = width_});
  }

  AttentionOptions self_attention_options(int layer) const {
    AttentionOptions options = attention_options(config_, stack_, layer);
    options.relative_positions = stack_.relative_positions;
    options.disentangled_positions = stack_.disentangled_positions;
    options.causal = &stack_ == &config_.decoder;  // matters in a classifier's decoder, which has no cache
    return options;
  }

  // Adds block number `layer`. Without `memory_of` it has no cross-attention.
  template <class SelfAttention>
  Edge add_block(int layer, Edge x, const MemoryOfLayer& memory_of) {
    const auto add_self_attention = [&](std::vector<Edge> inputs) {
      return add_node<SelfAttention>(layer, "self_attention", std::move(inputs), self_attention_options(layer));
    };
    if (&stack_ == &config_.decoder && config_.target_reader == TargetReader::simple_recurrent_unit) {
      x = add_residual_block(layer, "recurrent_unit_norm", x, [&](std::vector<Edge> inputs) {
        return add_node<SimpleRecurrentUnit>(
            layer, "recurrent_unit", std::move(inputs),
            SimpleRecurrentUnitOptions{.model_dim = config_.model_dim, .residual = sublayer_residual(config_)});
      });
    } else if (layer == 0 && !config_.first_layer_has_norm) {
      x = add_self_attention({x, x});
    } else {
      x = add_residual_block(layer, "self_attention_norm", x, add_self_attention);
    }
    if (memory_of) {
      const Edge memory = memory_of(layer);
      x = add_residual_block(layer, "cross_attention_norm", x, [&](std::vector<Edge> inputs) {
        inputs.insert(inputs.begin() + 1, memory);
        return add_node<CrossAttention>(layer, "cross_attention", std::move(inputs),
                                        attention_options(config_, stack_, layer));
      });
    }
    return add_feed_forward(layer, x);
  }

  // Adds the last block of an encoder, which computes only the rows of the graph's input "rows".
  Edge add_gathered_block(int layer, Edge x) {
    const WeightScope w = weights_ / layer;
    const Edge rows = graph_.input("rows", {kTargetRows}, DataType::int32);
    const auto gather = [&](const char* name, Edge from) {
      return graph_.add((w / name).path(), std::make_shared<Gather>(), {from, rows});
    };
    const Edge gathered = gather("rows", x);
    const auto add_attention = [&](std::vector<Edge> inputs) {
      return add_node<GatheredAttention>(layer, "self_attention", std::move(inputs), self_attention_options(layer));
    };
    constexpr std::string_view kNorm = "self_attention_norm";
    if (config_.norm_order == NormOrder::last) {
      x = add_norm(layer, kNorm, {gathered, add_attention({gathered, x})});
    } else {
      const Edge normalized = add_norm(layer, kNorm, {x});
      x = add_attention({gather("normalized_rows", normalized), normalized, gathered});
    }
    return add_feed_forward(layer, x);
  }

  Edge add_feed_forward(int layer, Edge x) {
    return add_residual_block(layer, "feed_forward_norm", x, [&](std::vector<Edge> inputs) {
      return add_node<FeedForward>(layer, "feed_forward", std::move(inputs),
                                   FeedForwardOptions{.kind = stack_.feed_forward.value_or(config_.feed_forward),
                                                      .model_dim = width_,
                                                      .hidden_dim = stack_.hidden_dim,
                                                      .activation = stack_.activation.value_or(config_.activation),
                                                      .bias = config_.bias,
                                                      .residual = sublayer_residual(config_)});
    });
  }

  // Adds a sub-layer f with its residual connection and normalisation. add_sublayer(inputs) adds the node of f.
  //   norm last:  x -> norm(x + f(x));  inputs are {x}
  //   norm first: x -> x + f(norm(x));  inputs are {norm(x), x}, and f adds x as its residual
  template <class AddSublayer>
  Edge add_residual_block(int layer, std::string_view norm, Edge x, const AddSublayer& add_sublayer) {
    if (config_.norm_order == NormOrder::last) {
      const Edge transformed = add_sublayer(std::vector{x});
      return add_norm(layer, norm, {x, transformed});
    }
    const Edge normalized = add_norm(layer, norm, {x});
    return add_sublayer(std::vector{normalized, x});
  }

  Graph& graph_;
  const TransformerConfig& config_;
  const StackConfig& stack_;
  const Dim width_;  // D
  const WeightScope weights_;
  std::map<std::string, std::shared_ptr<const Layer>> layers_;  // layers of blocks, by the path of their weights
};

// See Transformer::front.
Graph build_front(const TransformerConfig& config, const WeightScope& weights) {
  Graph graph("front");
  const Edge samples = graph.input("source_samples", {kSourceRows, config.encoder.frames.per_row});
  StackBuilder encoder(graph, config, config.encoder, weights / "encoder");
  if (config.encoder.frames.front == SoundFront::waveform) {
    encoder.add_waveform_front(samples, graph.input("source_positions", {kBatch}, DataType::int32));
  } else {
    encoder.add_layers<MultiHeadAttention>(encoder.add_streaming_front(samples), nullptr);
  }
  return graph;
}

// Adds the encoder, or the rest of it after the front. Returns the rows that decoders read.
Edge add_encoder(Graph& graph, const TransformerConfig& config, const WeightScope& weights,
                 const OutputProjection& projection) {
  const FrameOptions& frames = config.encoder.frames;
  StackBuilder encoder(graph, config, config.encoder, weights / "encoder");
  if (config.source_kind() == SourceKind::tokens) {
    return encoder.add<MultiHeadAttention>(graph.input("source_ids", {kSourceRows}, DataType::int32), projection,
                                           nullptr);
  }
  const Dim width = frames.reads_samples() ? config.width_of(config.encoder) : frames.per_row * frames.width;
  const Edge rows = graph.input("source_frames", {kSourceRows, width});
  switch (frames.front) {
    case SoundFront::mel: return encoder.add<MultiHeadAttention>(rows, projection, nullptr);
    case SoundFront::waveform: return encoder.add_layers<MultiHeadAttention>(rows, nullptr);
    case SoundFront::streaming: break;
  }
  graph.output(rows);
  return encoder.add_decoder_view(rows);
}

Graph build_encoder(const TransformerConfig& config, const WeightScope& weights, const OutputProjection& projection) {
  Graph graph("encoder");
  const Edge x = add_encoder(graph, config, weights, projection);
  const auto add_memory = [&](int layer) {
    const WeightScope w = weights / "decoder" / layer / "cross_attention";
    return graph.add((w / "memory").path(),
                     std::make_shared<CrossAttentionMemory>(w, attention_options(config, config.decoder, layer)), {x});
  };
  if (config.decodes_source()) {
    const Edge target = graph.input("target_ids", {kSourceRows}, DataType::int32);
    StackBuilder(graph, config, config.decoder, weights / "decoder")
        .add<MultiHeadAttention>(target, projection, add_memory);
    return graph;
  }
  for (int layer = 0; layer < config.decoder.layers; ++layer) graph.output(add_memory(layer));
  return graph;
}

Graph build_decoder(const TransformerConfig& config, const WeightScope& weights, const OutputProjection& projection,
                    const KeyValueForm& form) {
  Graph graph("decoder");
  const WeightScope decoder = weights / "decoder";
  const Edge target = graph.input("target_ids", {kTargetRows}, DataType::int32);
  const auto add_memory = [&](int layer) {
    return graph.input((decoder / layer / "cross_attention" / "memory").path(), {kSourceRows, 2 * form.width()},
                       form.type);
  };
  StackBuilder stack(graph, config, config.decoder, decoder);
  stack.add<MaskedDecoderAttention>(target, projection,
                                    config.has_encoder() ? StackBuilder::MemoryOfLayer(add_memory) : nullptr);
  return graph;
}

OutputProjection head_projection(const TransformerConfig& config, const WeightScope& weights) {
  const bool is_language_model = config.head.kind == HeadKind::vocabulary;
  return {weights / "output",
          {.input_width = config.model_dim,
           .output_width = config.head.labels,
           .bias = is_language_model ? config.output_bias : Bias::required}};
}

Graph build_head(const TransformerConfig& config, const WeightScope& weights, const OutputProjection& projection) {
  Graph graph("head");
  const Dim width = config.model_dim;
  const HeadConfig& head = config.head;
  Edge x = graph.input("last_hidden_states", {kTargetRows, width});
  if (head.activation) {
    x = graph.add<Linear>(weights / "dense", {x},
                          LinearOptions{.input_width = width,
                                        .output_width = width,
                                        .bias = config.bias == Bias::required ? Bias::required : Bias::optional,
                                        .activation = *head.activation});
  }
  if (head.has_norm) {
    x = graph.add<AddNorm>(weights / "norm", {x}, norm_options(config, width));
  }
  projection.add_to(graph, x);
  return graph;
}

}  // namespace

Transformer::Transformer(const TransformerConfig& config_, const WeightScope& weights_,
                         const Transformer* encodes_for_it)
    : config(config_), weights(weights_) {
  // The logits of a vocabulary take as long as layers do; those of labels take no time.
  const bool is_wide = config.head.kind == HeadKind::vocabulary;
  const WeightScope head_weights = is_wide ? weights / "head" : (weights / "head").in_float32();
  const OutputProjection projection = config.has_decoder()     ? OutputProjection(config, weights)
                                      : config.head.is_graph() ? head_projection(config, head_weights)
                                                               : OutputProjection();
  if (config.has_encoder() && encodes_for_it == nullptr) {
    // An encoder's embeddings keep their precision.
    const bool ties = config.has_decoder() || weights.pack().precision == Precision::float32;
    if (config.encoder.frames.reads_samples()) front.emplace(build_front(config, weights));
    encoder.emplace(build_encoder(config, weights, ties ? projection : OutputProjection()));
  }
  if (config.has_decoder()) {
    decoder.emplace(
        build_decoder(config, weights, projection, (encodes_for_it ? *encodes_for_it : *this).key_value_form()));
    output.emplace(projection.graph(config));
    output_layer = projection.layer();
  }
  if (config.head.is_graph()) head.emplace(build_head(config, head_weights, projection));
}

KeyValueForm Transformer::key_value_form() const {
  return key_value_form_of(attention_options(config, config.decoder, 0), weights.pack().precision);
}

std::vector<const Executor*> Transformer::graphs() const {
  std::vector<const Executor*> graphs;
  for (const auto* executor : {&front, &encoder, &decoder, &output, &head}) {
    if (*executor) graphs.push_back(&**executor);
  }
  return graphs;
}

}  // namespace encdec
