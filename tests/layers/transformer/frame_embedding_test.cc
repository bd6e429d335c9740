#include "encdec/layers/transformer/frame_embedding.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "tests/support/layer_runner.h"
#include "tests/support/random_tensors.h"
#include "tests/support/weights_builder.h"

namespace encdec {
namespace {

TEST(FrameEmbedding, FollowsTheFormula) {
  constexpr Dim kFrame = 7, kPerRow = 2, kWidth = 5;
  RandomTensors random(1);
  Tensor log_k = Tensor::allocate({1});
  log_k.data<float>()[0] = -0.3F;
  const Tensor weight = random.uniform({kWidth, kFrame});
  LayerRunner runner(std::make_shared<FrameEmbedding>(
                         make_scope({{"compression.log_k", log_k}, {"linear.weight", weight}}),
                         FrameEmbeddingOptions{.frame = kFrame, .frames_per_row = kPerRow, .model_dim = kWidth}),
                     std::vector<Shape>{{kSourceRows, kPerRow * kFrame}});
  Tensor x = random.uniform({3, kPerRow * kFrame});
  std::fill_n(x.row(2), kFrame, 0.0F);
  const Tensor y = runner.run(std::array{x}, {});
  for (Dim frame = 0; frame < 3 * kPerRow; ++frame) {
    const float* in = x.data<float>() + frame * kFrame;
    double mean = 0, square = 0;
    for (Dim i = 0; i < kFrame; ++i) mean += double{in[i]} / kFrame;
    for (Dim i = 0; i < kFrame; ++i) square += (double{in[i]} - mean) * (double{in[i]} - mean) / kFrame;
    for (Dim n = 0; n < kWidth; ++n) {
      double sum = 0;
      for (Dim i = 0; i < kFrame; ++i) {
        sum +=
            std::asinh(std::exp(-0.3) * (double{in[i]} - mean) / std::sqrt(square + 1e-6)) * double{weight.row(n)[i]};
      }
      EXPECT_NEAR(y.data<float>()[frame * kWidth + n], sum / (1 + std::exp(-sum)), 1e-5);
    }
  }
}

}  // namespace
}  // namespace encdec
