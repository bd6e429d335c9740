#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "encdec/engine/executor.h"
#include "encdec/layers/transformer/linear.h"
#include "encdec/models/network/config.h"

namespace encdec {

// A Transformer ready to run: the graphs of figure 1 (Vaswani et al. 2017) with their weights. Read-only; sessions
// share it.
// Scopes of its weights, where SIDE is encoder or decoder and i the number of a layer; see the family's file for
// others:
//   SIDE.{embedding, token_type_embedding, embedding_norm, positional_encoding}, if the configuration has them
//   SIDE.{i}.{self_attention, self_attention_norm, feed_forward, feed_forward_norm}
//   decoder.{i}.{cross_attention, cross_attention_norm}, if there is an encoder
//   SIDE.norm, if norm_order is first
//   output_projection, if there is a decoder
//   head.{dense, norm, output}, if the model is a classifier or a masked language model, and its head has them
struct Transformer {
  // `encodes_for_it`, if not null, is a model with the same configuration that encodes this one's sources: this
  // one is then a draft model, a copy of its decoder in another precision.
  // Throws WeightError or ShapeError if the weights do not fit the configuration.
  Transformer(const TransformerConfig& config_, const WeightScope& weights,
              const Transformer* encodes_for_it = nullptr);

  // Returns the graphs that exist, in the order in which they run.
  std::vector<const Executor*> graphs() const;
  // Returns the form in which the decoder's attentions read keys and values.
  KeyValueForm key_value_form() const;

  TransformerConfig config;  // configuration that the graphs were built for
  WeightScope weights;       // weights that the graphs were built from
  // The beginning of an encoder that reads samples; unset in others. Samples: [S, frames.per_row], with zeros after
  // each source. Of a source's rows, the first frames.rows_of(samples) have a meaning.
  //   {samples} or {samples, positions of each source after the first window: int32 [B]} -> rows [S, D]
  // If frames.reads_pieces, it also runs on pieces of a sequence (see StreamPiece), and its rows are the last hidden
  // states.
  std::optional<Executor> front;
  // The encoder; unset in a decoder-only model, and if another model encodes this one's sources.
  //   token ids: int32 [S], frames: [S, frames.per_row * frames.width], or the rows of `front`: [S, D]
  //   -> last hidden states [S, D], then a memory [S, 2*H*K] for the cross-attention of each decoder layer
  // If the configuration decodes_source(): {token ids, token ids of the decoder: int32 [S]}
  //   -> last hidden states [S, D], then those of the decoder [S, D]
  std::optional<Executor> encoder;
  // The decoder, for one or more tokens of each sequence; unset in a model that writes no target.
  //   {token ids: int32 [T], then the encoder's memories if there is an encoder} -> last hidden states [T, D]
  std::optional<Executor> decoder;
  // The output projection: hidden states of the decoder [T, D] -> logits [T, V]; unset if there is no `decoder`.
  std::optional<Executor> output;
  // The only layer of `output`; null if there is none.
  std::shared_ptr<const Linear> output_layer;
  // The head of a classifier or a masked language model: last hidden states [T, D] -> logits [T, labels], [T, V]; unset
  // if there is none.
  std::optional<Executor> head;
};

}  // namespace encdec
