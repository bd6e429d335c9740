#pragma once

#include <functional>
#include <memory>

#include "encdec/models/network/transformer.h"

namespace encdec {

// What a network makes of a few pseudo-random inputs: logits [R, V] of every position, or last hidden states [R, D] of
// an encoder-only model.
Tensor probe(const std::shared_ptr<const Transformer>& network);

// How far two probes are apart, as a mean over rows; 0 for equal ones, not a number where one of them has such.
//   logits: the Kullback-Leibler divergence of the tokens' probabilities, in nats
//   hidden states: one minus the cosine of the angle between them
double divergence(const Tensor& reference, const Tensor& other, Architecture architecture);

// The divergence of a reduced precision that loses nothing that matters. For scale: the bundled model is at 0.0095 in
// int8, which changes one word in 80 of what it says and leaves its word error rate as it was.
inline constexpr double kNegligibleDivergence = 0.02;

// The network as it is built in the fastest precision in which it gives what it gives in float32.
std::shared_ptr<const Transformer> fastest_network(
    const std::function<std::shared_ptr<const Transformer>(Precision)>& build);

}  // namespace encdec
