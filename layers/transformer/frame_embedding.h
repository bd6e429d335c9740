#pragma once

#include "encdec/layers/transformer/linear.h"

namespace encdec {

struct FrameEmbeddingOptions {
  Dim frame = 0;           // samples in a frame
  Dim frames_per_row = 1;  // P
  Dim model_dim = 0;       // D
};

// Embeds frames of audio samples (transformers, modeling_moonshine_streaming.py: FrameCMVN,
// AsinhCompression and linear of EncoderEmbedder). For each frame x of N samples:
//   n = (x - mean(x)) / sqrt(mean((x - mean(x))^2) + 1e-6)
//   y = silu(asinh(exp(log_k) * n) Wᵀ)
//   {samples: [R, P * N]} -> [R, P * D]
class FrameEmbedding final : public Layer {
 public:
  // Takes compression.log_k [1] and linear.weight [D, N]. Throws WeightError, naming the tensor.
  FrameEmbedding(const WeightScope& weights, const FrameEmbeddingOptions& options);

  std::string_view kind() const override { return "frame_embedding"; }
  Shape output_shape(Shapes inputs) const override;
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;

 private:
  FrameEmbeddingOptions options_;
  float factor_;   // exp(log_k)
  Linear linear_;  // N -> D, in float32 because its inputs are samples
};

}  // namespace encdec
