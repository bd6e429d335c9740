#include "encdec/engine/kernels/activation.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/support/naive_reference.h"
#include "tests/support/random_tensors.h"
#include "tests/support/vector_targets.h"

namespace encdec::kernels {
namespace {

// MatMul's tests compare the same functions with their formulas, the contract of FeedForward the gate.
TEST(Gate, AnElementHasTheSameBitsAtEveryPlaceInARow) {
  for_each_vector_target([] {
    RandomTensors random(2);
    const Tensor gates = random.uniform({67}, 5.0), values = random.uniform({67});
    for (const Activation activation : reference::kActivations) {
      std::array<float, 67> all{};
      gate(activation, gates.data<float>(), values.data<float>(), 67, all.data());
      for (std::size_t i = 0; i < all.size(); ++i) {
        float alone = 0;
        gate(activation, gates.data<float>() + i, values.data<float>() + i, 1, &alone);
        ASSERT_EQ(all[i], alone) << to_string(activation) << ", element " << i;
      }
    }
  });
}

TEST(Gate, LargeInputsGiveNoNaN) {
  for_each_vector_target([] {
    for (const float large : {1e4f, -1e4f, 1e30f, -1e30f}) {
      for (const Activation activation : reference::kActivations) {
        const float one = 1.0f;
        float output = 0;
        gate(activation, &large, &one, 1, &output);
        EXPECT_EQ(output, output) << to_string(activation) << " of " << large;
      }
    }
  });
}

}  // namespace
}  // namespace encdec::kernels
