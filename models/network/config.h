#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/engine/base/activation.h"
#include "encdec/layers/transformer/add_norm.h"
#include "encdec/layers/transformer/feed_forward.h"
#include "encdec/layers/transformer/positional_encoding.h"
#include "encdec/layers/transformer/relative_position_bias.h"

namespace encdec {

enum class Architecture : std::uint8_t { encoder_decoder, encoder_only, decoder_only };

inline std::string_view to_string(Architecture architecture) {
  constexpr std::string_view kNames[] = {"encoder-decoder", "encoder-only", "decoder-only"};
  return kNames[static_cast<std::size_t>(architecture)];
}

// Where a sub-layer's normalisation stands: after the addition (Vaswani et al. 2017), or before the sub-layer, and then
// once more at the end of the stack (Xiong et al. 2020).
enum class NormOrder : std::uint8_t { last, first };

// A normalisation of the embeddings.
enum class EmbeddingNorm : std::uint8_t { none, after_positions, before_positions };

// Where a multilingual decoder is told the language that it shall write.
enum class TargetLanguage : std::uint8_t {
  none,         // nowhere, or in the source: a matter of the tokenizer
  first_token,  // the first token after the start token
  start_token,  // instead of the start token
};

// Frames of sound that one row of an encoder stands for.
inline constexpr Dim kFramesPerRow = 2;

// Encoder or decoder.
struct StackConfig {
  Dim vocabulary = 0;  // V
  // Token V, which has no row in the embedding and no logit, stands for a zero embedding: Marian's start.
  bool zero_start_token = false;
  int layers = 0;                                      // none: there is no such stack
  int heads = 1;                                       // H
  Dim hidden_dim = 0;                                  // F
  PositionOptions positions = {};                      // that are added to the embeddings
  RelativePositions relative_positions = {};           // that bias self-attention
  float embedding_scale = 1.0f;                        // of token embeddings: sqrt(D) in the paper
  EmbeddingNorm embedding_norm = EmbeddingNorm::none;  // where embeddings are normalised
  // Not 0: an encoder that reads sound instead of tokens, kFramesPerRow frames of so many mel bands for each row, which
  // two convolutions turn into its embeddings (Radford et al. 2023, section 2.2).
  Dim mel_bands = 0;

  // One past the largest id that it reads.
  Dim input_tokens() const { return vocabulary + (zero_start_token ? 1 : 0); }
  // Tokens of the longest sequence that it can take; nullopt if there is no limit.
  std::optional<Dim> position_limit() const {
    return positions.kind == PositionOptions::Kind::learned ? std::optional(positions.count) : std::nullopt;
  }
};

// Sizes of a Transformer and the choices in which families of checkpoints differ. Data: what the graphs are built from.
struct TransformerConfig {
  std::string model_type;                                     // as config.json calls the family: "marian"
  Architecture architecture = Architecture::encoder_decoder;  // which stacks there are
  Dim model_dim = 0;                                          // D
  Dim head_dim = 0;                                           // K; 0 means D / H
  StackConfig encoder;                                        // without layers where there is none
  StackConfig decoder;                                        // likewise

  Activation activation = Activation::relu;               // of the feed-forward networks
  FeedForwardKind feed_forward = FeedForwardKind::plain;  // with a gate or without
  Bias bias = Bias::required;                             // of the linear maps in the stacks
  std::optional<Bias> key_bias = {};                      // of those that make keys, where they differ
  NormOrder norm_order = NormOrder::last;                 // where sub-layers are normalised
  NormKind norm = NormKind::layer;                        // the formula of all norms
  float norm_epsilon = 1e-5f;                             // of all norms
  float score_scale = 0.0f;                               // see AttentionOptions
  bool divide_scores_by_layer = false;                    // layer i's by i + 1
  Dim token_types = 0;                                    // 0: no token type embedding
  float logits_scale = 1.0f;                              // of the last hidden states, before the output projection
  Bias output_bias = Bias::optional;                      // of the logits

  std::optional<std::int32_t> pad_token;                  // as config.json has it
  std::optional<std::int32_t> decoder_start_token;        // unless a call or generation_config.json has another
  TargetLanguage target_language = TargetLanguage::none;  // of multilingual models

  bool has_encoder() const { return architecture != Architecture::decoder_only; }  // reads a source
  bool has_decoder() const { return architecture != Architecture::encoder_only; }  // writes a target
  bool reads_sound() const { return encoder.mel_bands > 0; }                       // instead of tokens
  // The stack that reads what the user gives: the encoder, or the decoder where there is no encoder.
  const StackConfig& input_stack() const { return has_encoder() ? encoder : decoder; }
};

// An activation by the name that transformers gives it ("gelu_new", "swish", ...); nullopt if it is not supported.
std::optional<Activation> activation_named(std::string_view name);

// All names that activation_named knows, for messages.
std::string activation_names();

}  // namespace encdec
