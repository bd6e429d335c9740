#pragma once

#include <functional>
#include <memory>

#include "encdec/models/network/transformer.h"

namespace encdec {

// Runs a network on a few pseudo-random inputs. Returns the logits [R, V] of all positions or, in a
// model without logits over a vocabulary, the last hidden states [R, D].
Tensor probe(const std::shared_ptr<const Transformer>& network);

// Returns the mean distance of the rows of two probe() results; NaN if one contains NaN.
//   logits:        Kullback-Leibler divergence of the token probabilities, in nats
//   hidden states: 1 - cosine of the angle between the rows
double divergence(const Tensor& reference, const Tensor& other, const TransformerConfig& config);

// Maximum divergence that counts as equal to float32. Example: the bundled model has 0.0095 in
// int8. One word in 80 changes, and the word error rate stays the same.
inline constexpr double kNegligibleDivergence = 0.02;

// Builds the network in the first precision whose divergence is at most kNegligibleDivergence:
// int8, bfloat16 if the backend multiplies in it, float32.
std::shared_ptr<const Transformer> fastest_network(
    BackendChoice backend, const std::function<std::shared_ptr<const Transformer>(Precision)>& build);

}  // namespace encdec
