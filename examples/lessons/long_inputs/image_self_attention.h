#pragma once

#include <cstdint>
#include <optional>

#include "encdec/layers/transformer/attention_heads.h"
#include "encdec/layers/transformer/linear.h"

namespace lessons {
using namespace encdec;

// Last step of the attention.
enum class ImageAttentionOutput : std::uint8_t {
  projected,  // projects the attended values to C channels, as in the paper
  direct,     // no projection; C'' must be C
};

// Options of an ImageSelfAttention.
struct ImageSelfAttentionOptions {
  Dim channels = 0;                                               // C
  Dim key_channels = 0;                                           // C'; 0 means C / 8
  Dim value_channels = 0;                                         // C''; 0 means C / 8, or C if the output is direct
  ImageAttentionOutput output = ImageAttentionOutput::projected;  // last step
  Bias bias = Bias::optional;                                     // bias of all projections
};

// Self-attention of an image (SAGAN, Zhang et al. 2018, section 3): every position attends to all positions of its
// image, with one head and unscaled scores.
//   y_j = gamma * output(sum_i softmax_i(<query(x_j), key(x_i)>) value(x_i)) + x_j;  x, y: [B, H, W, C]
// The paper writes s_ij = f(x_i)ᵀ g(x_j) for the scores and takes the softmax over i. Its f is `key` here, g is
// `query`, h is `value` and v is `output`.
// The (H*W)² scores of an image are never all in memory, only the scores of a few queries at a time.
class ImageSelfAttention final : public Layer {
 public:
  // Takes query.weight [C', C], key.weight [C', C], value.weight [C'', C], output.weight [C, C''] unless the output is
  // direct, and gamma [1]. options.bias says whether there are biases: [C'], [C'], [C''] and [C]. Weights of
  // convolutions, [out, in, 1, 1], are accepted too. Throws WeightError, naming the tensor, if one is missing or does
  // not fit. Throws ConfigError if a number of channels is less than 1, or C'' is not C although the output is direct.
  ImageSelfAttention(const WeightScope& weights, const ImageSelfAttentionOptions& options);

  std::string_view kind() const override { return "image_self_attention"; }
  Shape output_shape(Shapes inputs) const override;
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;

 private:
  Dim channels_;
  AttentionOptions attention_;
  Linear query_key_;              // C -> 2*C', one matmul
  Linear value_;                  // C -> C''
  std::optional<Linear> output_;  // C'' -> C; unset if the output is direct
  float gamma_ = 0.0f;
};

}  // namespace lessons
