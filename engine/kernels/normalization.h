#pragma once

namespace encdec::kernels {

// Layer normalisation (Ba et al. 2016) of one row: output = (x - mean) / sqrt(variance + epsilon) * scale + shift with
// x = input + residual (residual may be null) and the biased variance. All of `width` floats; output may be input.
void layer_norm(const float* input, const float* residual, const float* scale, const float* shift, float epsilon,
                int width, float* output);

// Root mean square normalisation (Zhang & Sennrich 2019) of one row: output = x / sqrt(mean(x^2) + epsilon) * scale,
// likewise.
void rms_norm(const float* input, const float* residual, const float* scale, float epsilon, int width, float* output);

}  // namespace encdec::kernels
