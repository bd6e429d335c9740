#pragma once

#include "encdec/engine/base/activation.h"

namespace encdec::kernels {

// output = activation(gate) * value, element by element: gated linear units (Shazeer 2020).
// `output` may be `gate` or `value`.
void gate(Activation activation, const float* gate, const float* value, int count, float* output);

// x = cap * tanh(x / cap), which is between -cap and cap (Bello et al. 2016, "logit clipping").
void cap(float cap, float* values, int count);

// state = f * state + (1 - f) * candidate, element by element, with f = sigmoid(gate).
void update_state(const float* candidate, const float* gate, int count, float* state);

}  // namespace encdec::kernels
