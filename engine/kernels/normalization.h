#pragma once

namespace encdec::kernels {

// A row of `width` floats. x = input + residual.
struct NormRow {
  const float* input = nullptr;
  const float* residual = nullptr;  // or null
  const float* added = nullptr;     // added to the result, or null
  const float* scale = nullptr;
  const float* shift = nullptr;  // for layer_norm() only
  float epsilon = 0.0f;
  int width = 0;
  float* output = nullptr;  // may be `input`
};

// Layer normalisation (Ba et al. 2016), with the biased variance:
//   output = (x - mean) / sqrt(variance + epsilon) * scale + shift (+ added)
void layer_norm(const NormRow& row);

// Root mean square normalisation (Zhang & Sennrich 2019):
//   output = x / sqrt(mean(x^2) + epsilon) * scale (+ added)
void rms_norm(const NormRow& row);

}  // namespace encdec::kernels
