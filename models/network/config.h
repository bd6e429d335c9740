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
enum class NormOrder : std::uint8_t { last, first };

// Place of a normalisation of the embeddings.
enum class EmbeddingNorm : std::uint8_t { none, after_positions, before_positions };

// Place of the token that names the target language, in the input of a multilingual decoder.
enum class TargetLanguage : std::uint8_t {
  none,         // no such token; the tokenizer may put one into the source
  first_token,  // after the start token
  start_token,  // instead of the start token
};

// Kind of a stack's input.
enum class SourceKind : std::uint8_t {
  tokens,  // token ids: int32 [S]
  frames,  // rows of numbers, such as log-mel frames: float32 [S * frames.per_row, frames.width]
};

// A window over positions, as of a convolution.
struct Window {
  Dim kernel = 1, stride = 1;

  // Returns the number of windows in a number of positions, without padding.
  Dim outputs(Dim positions) const { return positions < kernel ? 0 : (positions - kernel) / stride + 1; }
};

// An input of frames: of sound features, or of one sample each.
struct FrameOptions {
  Dim width = 0;                     // numbers in a frame; 0 if the stack reads tokens
  Dim per_row = 1;                   // frames from one row of the encoder to the next
  std::vector<Window> windows = {};  // by which the rows follow from samples; empty: any multiple of per_row frames
  Dim counted = 1;                   // samples at the end that fill no group of this many do not count
  bool reads_pieces = false;         // whether Transformer::front can read a sequence in pieces; see StreamingEncoder

  // Returns whether frames are samples, of which Transformer::front makes rows.
  bool reads_samples() const { return !windows.empty(); }
  // Returns the number of rows that the encoder makes of a number of frames; 0 if it cannot read that number.
  Dim rows_of(Dim frames) const;
  // Returns the smallest number of frames of which the encoder makes `rows` rows.
  Dim frames_for(Dim rows) const;
  // Returns the shapes from which the encoder makes at most `most_rows` rows, for messages; 0: any number of rows.
  std::string expected_shape(Dim most_rows = 0) const;
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

  NormOrder norm_order = NormOrder::last;                 // place of the norms
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
  // Returns whether sub-layers add the residual. If the norm comes last, AddNorm adds it.
  Residual residual() const { return norm_order == NormOrder::first ? Residual::add : Residual::none; }
  // Returns the options of a norm of `width` numbers.
  NormOptions norm_of(Dim width) const;
  // Returns the options of a layer's attentions.
  AttentionOptions attention_of(int layer) const;
};

// Results of a head, computed from the last hidden states.
enum class HeadKind : std::uint8_t {
  none,
  sequences,   // a classifier's logits of a text
  tokens,      // a classifier's logits of each token
  vocabulary,  // a masked language model's logits of each token, one for each token of the vocabulary
  modules,     // a classifier's logits of a text, by the modules of a sentence-transformers folder (SentenceEmbedder)
};

// Rows that a head for texts reads.
enum class HeadPooling : std::uint8_t {
  first,
  mean,         // the mean of all rows
  mean_logits,  // all rows; their logits are averaged
  last_end,     // the row of the last end token
};

// How the logits of a text's tokens become the weights of a sparse vector (Formal et al. 2021):
//   the maximum or the sum, over all tokens, of log(1 + max(logit, 0))
struct SparsePooling {
  bool is_sum = false;
  int logarithms = 1;  // number of times that log(1 + x) is applied
};

// A head: y = output(norm(activation(dense(h)))), where only some have a norm or the first linear map.
struct HeadConfig {
  HeadKind kind = HeadKind::none;
  Dim labels = 0;                             // number of logits
  std::optional<Activation> activation = {};  // activation of `dense`, D -> D; unset: there is no such map
  bool has_norm = false;
  HeadPooling pooling = HeadPooling::first;
  std::int32_t end_token = 0;                    // for HeadPooling::last_end
  std::optional<std::int32_t> start_token = {};  // before the text in the decoder; unset: the text's last token
  SparsePooling sparse = {};                     // for HeadKind::vocabulary

  bool is_graph() const { return kind != HeadKind::none && kind != HeadKind::modules; }
  bool classifies_texts() const { return kind == HeadKind::sequences || kind == HeadKind::modules; }
  bool classifies() const { return classifies_texts() || kind == HeadKind::tokens; }
};

// Sizes of a Transformer, and the choices in which families of checkpoints differ.
struct TransformerConfig {
  std::string model_type;                                     // name of the family in config.json: "marian"
  Architecture architecture = Architecture::encoder_decoder;  // stacks of the model
  StackConfig encoder;                                        // has 0 layers if there is no encoder
  StackConfig decoder;                                        // has 0 layers if there is no decoder

  float logits_scale = 1.0f;          // factor of the hidden states before the output projection
  Bias output_bias = Bias::optional;  // bias of the logits
  HeadConfig head;                    // head of a classifier or a masked language model
  // Encoder-only: the encoder has an input of row numbers, and its last layer computes no other rows.
  bool gathers_rows = false;
  // Head of the last layer's cross-attention that was trained to align words; unset: the mean of all heads aligns.
  std::optional<int> alignment_head = {};

  std::optional<std::int32_t> pad_token;                  // from config.json
  std::optional<std::int32_t> decoder_start_token;        // default; a call or generation_config.json may override it
  TargetLanguage target_language = TargetLanguage::none;  // place of the target language token

  bool has_encoder() const { return architecture != Architecture::decoder_only; }  // whether the model reads a source
  // Returns whether the model writes a target.
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
