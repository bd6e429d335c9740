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

enum class Architecture : std::uint8_t { encoder_decoder, encoder_only, decoder_only };

inline constexpr std::array kArchitectures = {
    Named{Architecture::encoder_decoder, "encoder-decoder"},
    Named{Architecture::encoder_only, "encoder-only"},
    Named{Architecture::decoder_only, "decoder-only"},
};

constexpr std::string_view to_string(Architecture architecture) {
  return name_of(kArchitectures, architecture);
}

// Position of a sub-layer's norm.
//   last:  after the residual is added (Vaswani et al. 2017)
//   first: before the sub-layer, and once more at the end of the stack (Xiong et al. 2020)
//   both:  as `first`, and once more before the residual is added (Gemma 2)
enum class NormOrder : std::uint8_t { last, first, both };

enum class EmbeddingNorm : std::uint8_t { none, after_positions, before_positions };

// Position of the target language's token in the input of a multilingual decoder.
enum class TargetLanguage : std::uint8_t {
  none,         // no token; the tokenizer may add a language token to the source
  first_token,  // after the start token
  start_token,  // instead of the start token
};

class Block;
class Stack;

// The structure of one stack, an encoder or a decoder. Stack (blocks.h) builds graphs from this structure.
struct StackConfig {
  Dim vocabulary = 0;  // V
  // Whether the decoder starts with token V, whose embedding is zero, as in Marian. Token V has no logit.
  bool zero_start_token = false;
  int layers = 0;      // 0: there is no such stack
  Dim model_dim = 0;   // D
  Dim hidden_dim = 0;  // F

  float embedding_scale = 1.0f;    // factor of token embeddings; sqrt(D) in the paper
  Dim token_types = 0;             // rows of the token type embedding; 0: none
  PositionOptions positions = {};  // encodings added to the embeddings
  EmbeddingNorm embedding_norm = EmbeddingNorm::none;
  FrameOptions frames = {};  // input that the stack reads instead of tokens

  NormOrder norm_order = NormOrder::last;
  NormOptions norm = {};                               // options of all norms
  AttentionOptions attention = {};                     // options of all layers; `bias` applies to all linear maps
  std::vector<AttentionOptions> layer_attention = {};  // by layer, if layers differ; otherwise empty
  FeedForwardKind feed_forward = FeedForwardKind::plain;
  Activation activation = Activation::relu;  // activation of the feed-forward networks

  bool is_recurrent = false;    // `block` has no self-attention
  bool shares_weights = false;  // `block` uses the same weights in several layers
  // Functions of a family that replace parts of figure 1. An empty function means: as in figure 1.
  std::function<Edge(Block&, Edge)> block = {};    // adds a block: hidden states -> hidden states
  std::function<Edge(Stack&, Edge)> compose = {};  // adds the stack: its input -> the rows that decoders read
  std::function<void(Stack&)> front = {};          // adds Transformer::front, with inputs and output

  SourceKind source_kind() const { return frames.width > 0 ? SourceKind::frames : SourceKind::tokens; }
  Dim input_tokens() const { return vocabulary + (zero_start_token ? 1 : 0); }
  // Returns the maximum number of tokens in a sequence; nullopt if unlimited.
  std::optional<Dim> position_limit() const {
    return positions.kind == PositionOptions::Kind::learned ? std::optional(positions.count) : std::nullopt;
  }
  NormOptions norm_of(Dim width) const;
  // Returns the options of a layer's attention, including the stack's model_dim.
  AttentionOptions attention_of(int layer) const;
};

// The structure of a Transformer: its sizes, and everything in which families differ.
struct TransformerConfig {
  std::string model_type;  // name of the family in config.json, such as "marian"
  Architecture architecture = Architecture::encoder_decoder;
  StackConfig encoder;  // 0 layers if there is none
  StackConfig decoder;  // 0 layers if there is none

  float logits_scale = 1.0f;          // factor of the hidden states before the output projection
  float logits_cap = 0.0f;            // c: a logit z becomes c * tanh(z / c); 0: no cap
  Bias output_bias = Bias::optional;  // bias of the logits
  HeadConfig head;                    // head of a classifier or a masked language model
  // Encoder-only: whether the encoder's last layer computes only given rows, such as each text's
  // first row for a classifier.
  bool gathers_rows = false;
  // Head of the last cross-attention that was trained to align words; unset: the mean of all heads.
  std::optional<int> alignment_head = {};

  std::optional<std::int32_t> pad_token;            // from config.json
  std::optional<std::int32_t> decoder_start_token;  // default; a call or generation_config.json may override it
  TargetLanguage target_language = TargetLanguage::none;

  bool has_encoder() const { return architecture != Architecture::decoder_only; }
  // Returns true if the model generates a target. A model that decodes_source() does not.
  bool has_decoder() const { return architecture != Architecture::encoder_only && !decodes_source(); }
  // Returns true if a decoder reads the source a second time, for a classifier's head. The decoder's input is a start
  // token, then the source without its last token.
  bool decodes_source() const { return architecture == Architecture::encoder_decoder && head.kind != HeadKind::none; }
  // Returns the reason, for error messages, why a model generates no target.
  std::string_view why_not_generative() const { return head.classifies() ? "is a classifier" : "has no decoder"; }
  SourceKind source_kind() const { return input_stack().source_kind(); }
  // Returns the stack that reads the user's input: the encoder, or the decoder if there is no encoder.
  const StackConfig& input_stack() const { return has_encoder() ? encoder : decoder; }
  // Returns the stack with the last hidden states: the decoder or, without one, the encoder.
  const StackConfig& last_stack() const { return architecture == Architecture::encoder_only ? encoder : decoder; }
  Dim model_dim() const { return last_stack().model_dim; }
};

// Returns the activation that transformers calls `name`, such as "gelu_new"; nullopt if there is none.
std::optional<Activation> activation_named(std::string_view name);

// Returns all names of activations in transformers, separated by commas, for error messages.
std::string activation_names();

}  // namespace encdec
