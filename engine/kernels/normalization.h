#pragma once

namespace encdec::kernels {

// One row of `width` floats to normalise: x = input + residual.
struct NormRow {
  const float* input = nullptr;
  const float* residual = nullptr;  // or null
  const float* added = nullptr;     // a row that is added to the output, or null
  const float* scale = nullptr;
  const float* shift = nullptr;  // for layer_norm() only
  float epsilon = 0.0f;
  int width = 0;
  float* output = nullptr;  // may be the same address as `input`
};

// Layer normalisation (Ba et al. 2016): output = (x - mean) / sqrt(variance + epsilon) * scale + shift, with the biased
// variance.
void layer_norm(const NormRow& row);

// Root mean square normalisation (Zhang & Sennrich 2019): output = x / sqrt(mean(x^2) + epsilon) * scale.
void rms_norm(const NormRow& row);

}  // namespace encdec::kernels
