#pragma once

#include <optional>

#include "encdec/engine/executor.h"
#include "encdec/layers/transformer/attention_heads.h"
#include "encdec/layers/transformer/position_table.h"
#include "universal_transformer/adaptive_halting.h"

namespace lessons {
using namespace encdec;

// Sizes and choices of one stack of a Universal Transformer: its encoder or decoder.
struct UniversalStackConfig {
  Dim vocabulary = 0;            // V
  float embedding_scale = 1.0f;  // factor of token embeddings; sqrt(D) in the paper
  int steps = 1;                 // number of steps; with adaptive halting the maximum for a position
  // Set: adaptive halting. A position halts when the sum of its probabilities exceeds this threshold, which must lie
  // between 0 and 1 (1 - epsilon in Graves 2016, such as 0.99). Unset: every position takes all steps.
  std::optional<float> halting_threshold = {};
  HaltedState halted_state = HaltedState::transformed;  // used with adaptive halting

  // Returns the options for AdaptiveHalting.
  HaltingOptions halting() const { return {.max_steps = steps, .threshold = halting_threshold.value_or(1.0f)}; }
};

// Sizes and choices of a Universal Transformer.
struct UniversalTransformerConfig {
  Dim model_dim = 0;                                    // D
  int heads = 1;                                        // H
  Dim hidden_dim = 0;                                   // F, width of the transition's hidden layer
  Activation activation = Activation::relu;             // activation of the transition
  float norm_epsilon = 1e-5f;                           // epsilon of all norms
  SinusoidLayout layout = SinusoidLayout::interleaved;  // layout of the sinusoids of positions and steps
  // Number of the first position and of the first step. The paper counts both from 1.
  int first_position = 1;
  int first_step = 1;            // the same for the encoder and the decoder
  UniversalStackConfig encoder;  // stack that reads the source
  UniversalStackConfig decoder;  // stack that writes the target

  AttentionOptions attention() const { return {.model_dim = model_dim, .heads = heads}; }  // options of every attention
};

// Universal Transformer (Dehghani et al. 2018, arXiv 1807.03819). The encoder is one block, applied again and again to
// the states of all positions; the decoder is another. P_t is the sum of the sinusoids of the positions and of step t.
// Step t computes:
//   X = H_{t-1} + P_t
//   A = norm(X + self_attention(X))
//   A = norm(A + cross_attention(A, last states of the encoder)), in the decoder only
//   H_t = norm(A + transition(A))
//   p = sigmoid(halting(X)), with adaptive halting: the probability that a position halts at this step
// The step number is an input, so one graph serves all steps; DepthRecurrence runs the loop. Read-only; sessions share
// it.
struct UniversalTransformer {
  // Takes weights of these scopes, where SIDE is encoder or decoder:
  //   SIDE.{embedding, self_attention, self_attention_norm, transition, transition_norm}
  //   SIDE.halting {weight [1, D], bias [1]}, with adaptive halting
  //   decoder.{cross_attention, cross_attention_norm}
  //   output_projection, whose bias is optional
  // Throws ConfigError for a value of the configuration that is out of range, and WeightError or ShapeError if the
  // weights do not fit the configuration.
  UniversalTransformer(const UniversalTransformerConfig& config_, const WeightScope& weights);

  UniversalTransformerConfig config;  // configuration that the graphs were built for
  Executor source_embedding;          // token ids: int32 [S] -> H_0 [S, D]
  Executor encoder_block;             // {H_{t-1}: [S, D], step: int32 [1]} -> H_t [S, D] and, with halting, p [S, 1]
  Executor source_key_values;         // last states of the encoder [S, D] -> key_values [S, 2*H*K] for cross-attention
  Executor target_embedding;          // token ids: int32 [T] -> H_0 [T, D]
  Executor decoder_block;             // {H_{t-1}: [T, D], step, key_values} -> H_t [T, D] and, with halting, p [T, 1]
  Executor output;                    // last states of the decoder [T, D] -> logits [T, V]
};

}  // namespace lessons
