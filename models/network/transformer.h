#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "encdec/engine/executor.h"
#include "encdec/layers/transformer/linear.h"
#include "encdec/models/network/config.h"

namespace encdec {

// A Transformer ready to run: the graphs of figure 1 (Vaswani et al. 2017) with their weights.
// Read-only; sessions share it.
// Weight scopes, where SIDE is encoder or decoder and i is a layer's number. A family may add scopes.
//   SIDE.{embedding, token_type_embedding, embedding_norm, positional_encoding}, if configured
//   SIDE.{i}.{self_attention, self_attention_norm, feed_forward, feed_forward_norm}
//   decoder.{i}.{cross_attention, cross_attention_norm}, if there is an encoder
//   SIDE.norm, unless norm_order is last
//   output_projection, if there is a decoder
//   head.{dense, norm, output}, if the head has them
struct Transformer {
  // If `encodes_for_it` is not null, this is a draft model: it has a copy of the decoder of `encodes_for_it`
  // in another precision, and shares the encoder. Throws WeightError or ShapeError if the weights do not fit.
  Transformer(const TransformerConfig& config_, const WeightScope& weights,
              const Transformer* encodes_for_it = nullptr);

  // Returns the existing graphs in the order in which they run.
  std::vector<const Executor*> graphs() const;
  // Returns the layout and data type in which the decoder's attention reads keys and values.
  KeyValueLayout key_value_form() const;

  TransformerConfig config;  // configuration of the graphs
  WeightScope weights;       // weights of the graphs
  // The first part of an encoder of samples. The first frames.rows_of(samples) rows are valid.
  //   {samples: [S, frames.per_row], zeros after each source} -> rows [S, D]
  //   or {samples, positions of each source after the first window: int32 [B]} -> rows [S, D]
  // If frames.reads_chunks, this graph also runs on chunks (see StreamChunk) and returns the last hidden states.
  std::optional<Executor> front;
  // The encoder; unset in a decoder-only model, and in a draft model that shares the encoder.
  //   token ids: int32 [S], frames: [S, frames.per_row * frames.width], or rows of `front`: [S, D]
  //   -> last hidden states [S, D], then by decoder layer the keys and values [S, 2*H*K] of its
  //      cross-attention
  // If the configuration decodes_source():
  //   {token ids, token ids of the decoder: int32 [S]}
  //   -> last hidden states of the encoder [S, D], and of the decoder [S, D]
  std::optional<Executor> encoder;
  // The decoder, for one or more tokens per sequence; unset if the model generates no target.
  //   {token ids: int32 [T], then the encoder's keys and values if there is an encoder}
  //   -> last hidden states [T, D]
  std::optional<Executor> decoder;
  // The output projection: hidden states [T, D] -> logits [T, V]; unset if there is no `decoder`.
  std::optional<Executor> output;
  // The only layer of `output`; null if there is none.
  std::shared_ptr<const Linear> output_layer;
  // The head: last hidden states [T, D] -> logits [T, labels] or [T, V]; unset if there is none.
  std::optional<Executor> head;
};

}  // namespace encdec
