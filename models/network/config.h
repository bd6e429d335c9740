#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/engine/base/activation.h"
#include "encdec/engine/base/named_values.h"
#include "encdec/engine/graph.h"
#include "encdec/layers/transformer/add_norm.h"
#include "encdec/layers/transformer/attention_options.h"
#include "encdec/layers/transformer/feed_forward.h"
#include "encdec/layers/transformer/positional_encoding.h"
#include "encdec/models/network/frames.h"
#include "encdec/models/network/head_config.h"

namespace encdec {

// Stacks of a model.
enum class Architecture : std::uint8_t { encoder_decoder, encoder_only, decoder_only };

inline constexpr std::array kArchitectures = {
    Named{Architecture::encoder_decoder, "encoder-decoder"},
    Named{Architecture::encoder_only, "encoder-only"},
    Named{Architecture::decoder_only, "decoder-only"},
};

constexpr std::string_view to_string(Architecture architecture) {
  return name_of(kArchitectures, architecture);
}

// Place of a sub-layer's normalisation.
//   last:  after the residual is added (Vaswani et al. 2017)
//   first: before the sub-layer, and once more at the end of the stack (Xiong et al. 2020)
//   both:  as first, and once more before the residual is added (Gemma 2)
enum class NormOrder : std::uint8_t { last, first, both };

// Place of a normalisation of the embeddings.
enum class EmbeddingNorm : std::uint8_t { none, after_positions, before_positions };

// Place of the token that names the target language, in the input of a multilingual decoder.
enum class TargetLanguage : std::uint8_t {
  none,         // no such token; the tokenizer may put one into the source
  first_token,  // after the start token
  start_token,  // instead of the start token
};

class Block;
class Stack;

// Sizes and choices of one stack: an encoder or a decoder. Graphs are built from this data; see blocks.h.
struct StackConfig {
  Dim vocabulary = 0;  // V
  // Whether the decoder starts with token V, whose embedding is zero, as in Marian. Token V has no row in the table and
  // no logit.
  bool zero_start_token = false;
  int layers = 0;      // number of layers; 0 means that there is no such stack
  Dim model_dim = 0;   // D
  Dim hidden_dim = 0;  // F

  float embedding_scale = 1.0f;                        // factor of token embeddings; sqrt(D) in the paper
  Dim token_types = 0;                                 // rows of the token type embedding; 0 means none
  PositionOptions positions = {};                      // encodings that are added to the embeddings
  EmbeddingNorm embedding_norm = EmbeddingNorm::none;  // place of the norm of the embeddings, if any
  FrameOptions frames = {};                            // frames that the stack reads in place of tokens

  NormOrder norm_order = NormOrder::last;                 // place of the norms, also at the end of the stack
  NormOptions norm = {};                                  // formula of all norms
  AttentionOptions attention = {};                        // options of all layers; `bias` holds for all linear maps
  std::vector<AttentionOptions> layer_attention = {};     // one for each layer, if layers differ; else empty
  FeedForwardKind feed_forward = FeedForwardKind::plain;  // formula of the feed-forward networks
  Activation activation = Activation::relu;               // activation of the feed-forward networks

  bool is_recurrent = false;    // `block` has no self-attention
  bool shares_weights = false;  // `block` gives several layers the same weights
  // Functions that add a family's own parts in place of parts of figure 1. Empty: as in figure 1.
  std::function<Edge(Block&, Edge)> block = {};    // a block: hidden states -> hidden states
  std::function<Edge(Stack&, Edge)> compose = {};  // the stack: its input -> the hidden states that decoders read
  std::function<void(Stack&)> front = {};          // adds inputs and output of Transformer::front

  SourceKind source_kind() const { return frames.width > 0 ? SourceKind::frames : SourceKind::tokens; }
  // Returns the number of token ids that the stack can read: ids are less than this.
  Dim input_tokens() const { return vocabulary + (zero_start_token ? 1 : 0); }
  // Returns the maximum number of tokens in a sequence; nullopt if there is no limit.
  std::optional<Dim> position_limit() const {
    return positions.kind == PositionOptions::Kind::learned ? std::optional(positions.count) : std::nullopt;
  }
  // Returns the options of a norm of `width` numbers.
  NormOptions norm_of(Dim width) const;
  // Returns the options of a layer's attentions, with the model_dim of the stack.
  AttentionOptions attention_of(int layer) const;
};

// Sizes of a Transformer, and the choices in which families of checkpoints differ.
struct TransformerConfig {
  std::string model_type;                                     // name of the family in config.json: "marian"
  Architecture architecture = Architecture::encoder_decoder;  // stacks of the model
  StackConfig encoder;                                        // has 0 layers if there is no encoder
  StackConfig decoder;                                        // has 0 layers if there is no decoder

  float logits_scale = 1.0f;          // factor of the hidden states before the output projection
  float logits_cap = 0.0f;            // c: a logit z becomes c * tanh(z / c); 0: it stays
  Bias output_bias = Bias::optional;  // bias of the logits
  HeadConfig head;                    // head of a classifier or a masked language model
  // Encoder-only: the encoder has an input of row numbers, and its last layer computes these rows alone, such as the
  // first row of each text for a classifier.
  bool gathers_rows = false;
  // Head of the last layer's cross-attention that was trained to align words; unset: the mean of all heads aligns.
  std::optional<int> alignment_head = {};

  std::optional<std::int32_t> pad_token;                  // from config.json
  std::optional<std::int32_t> decoder_start_token;        // default; a call or generation_config.json may override it
  TargetLanguage target_language = TargetLanguage::none;  // place of the target language token

  bool has_encoder() const { return architecture != Architecture::decoder_only; }  // whether the model reads a source
  // Returns whether the model writes a target. One that decodes_source() has a decoder stack, and writes none.
  bool has_decoder() const { return architecture != Architecture::encoder_only && !decodes_source(); }
  // Returns whether a decoder reads the source again, for the head of a classifier. The decoder's input is the source
  // without its last token, after a start token.
  bool decodes_source() const { return architecture == Architecture::encoder_decoder && head.kind != HeadKind::none; }
  // Returns, for messages, why a model that writes no target does not.
  std::string_view why_it_writes_nothing() const { return head.classifies() ? "is a classifier" : "has no decoder"; }
  // Returns the kind of the source.
  SourceKind source_kind() const { return input_stack().source_kind(); }
  // Returns the stack that reads the user's input: the encoder, or the decoder if there is no encoder.
  const StackConfig& input_stack() const { return has_encoder() ? encoder : decoder; }
  // Returns the stack whose hidden states are the last: the decoder, or the encoder if there is no decoder.
  const StackConfig& last_stack() const { return architecture == Architecture::encoder_only ? encoder : decoder; }
  // Returns the width of the last hidden states: D.
  Dim model_dim() const { return last_stack().model_dim; }
};

// Returns the activation that transformers calls `name` ("gelu_new", "swish", ...); nullopt if it is not supported.
std::optional<Activation> activation_named(std::string_view name);

// Returns the names that activation_named() knows, separated by commas, for messages.
std::string activation_names();

}  // namespace encdec
