#pragma once

#include <cstdint>
#include <optional>

#include "encdec/layers/transformer/attention_heads.h"
#include "encdec/layers/transformer/linear.h"

namespace encdec {

enum class ImageAttentionOutput : std::uint8_t {
  projected,  // the paper's: a projection of the attended values
  direct,     // the attended values themselves: C'' = C
};

// The sizes of an ImageSelfAttention.
struct ImageSelfAttentionOptions {
  Dim channels = 0;                                               // C
  Dim key_channels = 0;                                           // C'; 0 means C / 8
  Dim value_channels = 0;                                         // C''; 0 means C / 8, or C where the output is direct
  ImageAttentionOutput output = ImageAttentionOutput::projected;  // what becomes of the attended values
  Bias bias = Bias::optional;                                     // of all projections
};

// Self-attention of an image (SAGAN, Zhang et al. 2018, section 3): every position attends to all positions of its
// image, with one head and unscaled scores.
//   y_j = gamma * output(sum_i softmax_i(<query(x_j), key(x_i)>) value(x_i)) + x_j;  x, y: [B, H, W, C]
// The paper's names: s_ij = f(x_i)ᵀ g(x_j) with the softmax over i, so f gives the keys and g the queries; h gives the
// values, v the output. An image needs no memory for its (H*W)² scores: they are made for a few queries at a time.
class ImageSelfAttention final : public Layer {
 public:
  // Takes query.weight [C', C], key.weight [C', C], value.weight [C'', C], output.weight [C, C''] unless the output is
  // direct, each with a bias [C', C', C'', C] as options.bias says, and gamma [1]. Convolutions' weights
  // [out, in, 1, 1] will do. Throws WeightError, naming the tensor, if one is missing or does not fit, ConfigError if
  // numbers of channels are impossible.
  ImageSelfAttention(const WeightScope& weights, const ImageSelfAttentionOptions& options);

  std::string_view kind() const override { return "image_self_attention"; }
  Shape output_shape(Shapes inputs) const override;
  void forward(Inputs inputs, Tensor& output, RunState& state) const override;

 private:
  Dim channels_;
  AttentionOptions attention_;
  Linear query_key_;              // C -> 2*C', one matmul
  Linear value_;                  // C -> C''
  std::optional<Linear> output_;  // C'' -> C; none where the output is direct
  float gamma_ = 0.0f;
};

}  // namespace encdec
