#pragma once

#include <functional>
#include <memory>

#include "encdec/models/network/transformer.h"

namespace encdec {

// Returns the outputs of a network for a few pseudo-random inputs: logits [R, V] of all positions or, for a model that
// neither writes a target nor is a masked language model, last hidden states [R, D].
Tensor probe(const std::shared_ptr<const Transformer>& network);

// Returns the distance between two results of probe(), as a mean over rows: 0 if they are equal, NaN if one contains
// NaN.
//   logits:        the Kullback-Leibler divergence of the token probabilities, in nats
//   hidden states: 1 - cosine of the angle between the two rows
double divergence(const Tensor& reference, const Tensor& other, const TransformerConfig& config);

// Maximum divergence of a reduced precision that counts as equal to float32. Example: the bundled model in int8 has
// 0.0095. One word in 80 of its output changes, and its word error rate stays the same.
inline constexpr double kNegligibleDivergence = 0.02;

// Builds the network in the fastest precision whose divergence from float32 is at most kNegligibleDivergence. Tries
// int8, then bfloat16 if the backend multiplies in it; else returns the network in float32.
std::shared_ptr<const Transformer> fastest_network(
    BackendChoice backend, const std::function<std::shared_ptr<const Transformer>(Precision)>& build);

}  // namespace encdec
