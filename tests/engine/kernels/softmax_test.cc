#include "encdec/engine/kernels/softmax.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "tests/support/comparison.h"
#include "tests/support/naive_reference.h"
#include "tests/support/random_tensors.h"
#include "tests/support/vector_targets.h"

namespace encdec::kernels {
namespace {

using reference::Matrix;

// The row is a buffer of exactly softmax_row(count) floats, so that sanitizers find any access beyond it.
Tensor softmax_of(const Tensor& scores, int valid) {
  const int count = static_cast<int>(scores.width());
  std::vector<float> row(softmax_row(count));
  std::copy_n(scores.data<float>(), count, row.begin());
  masked_softmax(row.data(), count, valid);
  Tensor weights = Tensor::allocate({1, count});
  std::copy_n(row.begin(), count, weights.data<float>());
  return weights;
}

TEST(MaskedSoftmaxKernel, FollowsTheFormulaForEveryCountAndLength) {
  for_each_vector_target([] {
    for (const int count : {1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 64, 257}) {
      const Tensor scores = RandomTensors(1).uniform({1, count}, 8.0);
      for (const int valid : {0, (count + 6) / 7, count / 2, count}) {
        const std::array<std::int32_t, 1> lengths = {valid};
        EXPECT_TRUE(is_close_to(softmax(mask_beyond(Matrix(scores), lengths)), softmax_of(scores, valid)))
            << valid << " of " << count;
      }
    }
  });
}

TEST(MaskedSoftmaxKernel, AcceptsNoScores) {
  for_each_vector_target([] { masked_softmax(nullptr, 0, 0); });
}

}  // namespace
}  // namespace encdec::kernels
