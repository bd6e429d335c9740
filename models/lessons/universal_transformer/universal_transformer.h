#pragma once

#include <optional>

#include "encdec/engine/executor.h"
#include "encdec/layers/transformer/attention_heads.h"
#include "encdec/layers/transformer/position_table.h"
#include "encdec/models/lessons/universal_transformer/adaptive_halting.h"

namespace encdec {

// Encoder or decoder of a Universal Transformer.
struct UniversalStackConfig {
  Dim vocabulary = 0;            // V
  float embedding_scale = 1.0f;  // of token embeddings: the paper's is sqrt(D)
  int steps = 1;                 // of the recurrence; with adaptive halting the most that a position takes
  // With it, positions halt when their probabilities add up to more than this threshold, which lies between 0 and 1
  // (Graves' 1 - epsilon: 0.99); without, after all steps.
  std::optional<float> halting_threshold = {};
  HaltedState halted_state = HaltedState::transformed;  // with a threshold

  // The same for AdaptiveHalting.
  HaltingOptions halting() const { return {.max_steps = steps, .threshold = halting_threshold.value_or(1.0f)}; }
};

// Sizes of a Universal Transformer.
struct UniversalTransformerConfig {
  Dim model_dim = 0;                                    // D
  int heads = 1;                                        // H
  Dim hidden_dim = 0;                                   // F, of the transition
  Activation activation = Activation::relu;             // of the transition
  float norm_epsilon = 1e-5f;                           // of all norms
  SinusoidLayout layout = SinusoidLayout::interleaved;  // of positions and steps
  // The paper counts both from 1.
  int first_position = 1;
  int first_step = 1;            // of each stack
  UniversalStackConfig encoder;  // reads the source
  UniversalStackConfig decoder;  // writes the target

  AttentionOptions attention() const { return {.model_dim = model_dim, .heads = heads}; }  // of every attention
};

// Universal Transformer (Dehghani et al. 2018, arXiv 1807.03819): encoder and decoder are one block each, applied again
// and again, in depth, to the states of all positions. At step t, with P_t the sinusoids of positions and of t:
//   X = H_{t-1} + P_t
//   A = norm(X + self_attention(X));  in the decoder then A = norm(A + cross_attention(A, encoder's last states))
//   H_t = norm(A + transition(A))
// One graph serves all steps, since the step is an input; the loop is DepthRecurrence's. Read-only, shared by sessions.
struct UniversalTransformer {
  // Weights are asked for as SIDE.{embedding, self_attention, self_attention_norm, transition, transition_norm}, and
  // with adaptive halting SIDE.halting {weight [1, D], bias [1]}, for the SIDEs encoder and decoder;
  // decoder.{cross_attention, cross_attention_norm}; output_projection, its bias optional. Throws ConfigError for a
  // configuration that contradicts itself, WeightError or ShapeError if the weights do not fit it.
  UniversalTransformer(const UniversalTransformerConfig& config_, const WeightScope& weights);

  UniversalTransformerConfig config;  // that it was built for
  Executor source_embedding;          // token ids, int32 [S] -> H_0 [S, D]
  Executor encoder_block;             // {H_{t-1}: [S, D], step: int32 [1]} -> H_t, and with halting also p [S, 1], of X
  Executor source_memory;             // last states of the encoder [S, D] -> [S, 2*H*K]
  Executor target_embedding;          // token ids, int32 [T] -> H_0 [T, D]
  Executor decoder_block;             // {H_{t-1}: [T, D], step, memory: [S, 2*H*K]} -> as the encoder's
  Executor output;                    // last states of the decoder [T, D] -> logits [T, V]
};

}  // namespace encdec
