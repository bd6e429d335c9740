#pragma once

#include <optional>
#include <vector>

#include "encdec/engine/executor.h"
#include "encdec/models/network/config.h"

namespace encdec {

// A Transformer ready to run: the graphs of figure 1 (Vaswani et al. 2017) with their weights. Read-only, shared by all
// sessions. Weights are asked for as SIDE.{embedding, token_type_embedding, embedding_norm, positional_encoding}, as
// far as the configuration has them, encoder.{convolution_1, convolution_2} where it reads sound,
// SIDE.{i}.{self_attention, self_attention_norm, feed_forward, feed_forward_norm} and, with norm first, SIDE.norm, for
// the SIDEs encoder and decoder; where there are both, decoder.{i}.{cross_attention, cross_attention_norm};
// output_projection.
struct Transformer {
  // Throws WeightError or ShapeError if the weights do not fit the configuration.
  Transformer(const TransformerConfig& config_, const WeightScope& weights);

  // Those that there are, in the order in which they run.
  std::vector<const Executor*> graphs() const;
  // In which the decoder's attentions read keys and values.
  KeyValueForm key_value_form() const;

  TransformerConfig config;  // that it was built for
  WeightScope weights;       // that it was built from
  // Token ids, int32 [S], or frames, [S, kFramesPerRow * mel_bands] -> last hidden states [S, D], then the memory of
  // each decoder layer's cross-attention [S, 2*H*K], which a decoder reads at every step; none in a decoder-only model.
  std::optional<Executor> encoder;
  // Token ids, int32 [T], of one token of each sequence or many, and those memories, if there is an encoder -> last
  // hidden states [T, D]; none in an encoder-only model, as is the output.
  std::optional<Executor> decoder;
  std::optional<Executor> output;  // hidden states of the decoder -> logits
};

}  // namespace encdec
