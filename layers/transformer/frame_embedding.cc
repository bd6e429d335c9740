#include "encdec/layers/transformer/frame_embedding.h"

#include <cmath>

#include "encdec/engine/row_sharing.h"
#include "encdec/engine/run_state.h"
#include "encdec/layers/transformer/expectations.h"

namespace encdec {

FrameEmbedding::FrameEmbedding(const WeightScope& weights, const FrameEmbeddingOptions& options)
    : options_(options),
      factor_(std::exp(*(weights / "compression").tensor("log_k", {1}).data<float>())),
      linear_((weights / "linear").in(Precision::float32), {.input_width = options.frame,
                                                            .output_width = options.model_dim,
                                                            .bias = Bias::none,
                                                            .activation = Activation::silu}) {}

Shape FrameEmbedding::output_shape(Shapes inputs) const {
  expect_count(inputs, 1);
  expect_rows(inputs[0], options_.frames_per_row * options_.frame, "samples");
  return {inputs[0][0], options_.frames_per_row * options_.model_dim};
}

void FrameEmbedding::forward(Inputs inputs, Tensor& output, RunState& state) const {
  constexpr float kEpsilon = 1e-6f;
  const Dim frames = inputs[0].rows() * options_.frames_per_row, width = options_.frame;
  const auto count = static_cast<float>(width);
  // View the input with one frame per row.
  const Tensor samples = inputs[0].reshape({frames, width});
  Tensor compressed = state.scratch({frames, width});
  for_each_row(compressed, state.team(), [&](int row) {
    // Center the samples, scale them to unit variance, compress them. `squares` is the sum of squared centered samples.
    const float* x = samples.row(row);
    float* y = compressed.row(row);
    float sum = 0, squares = 0;
    for (Dim i = 0; i < width; ++i) sum += x[i];
    for (Dim i = 0; i < width; ++i) {
      y[i] = x[i] - sum / count;
      squares += y[i] * y[i];
    }
    const float scale = factor_ / std::sqrt(squares / count + kEpsilon);
    for (Dim i = 0; i < width; ++i) y[i] = std::asinh(scale * y[i]);
  });
  Tensor embedded = output.reshape({frames, options_.model_dim});
  linear_.apply(compressed, nullptr, embedded, state);
}

}  // namespace encdec
