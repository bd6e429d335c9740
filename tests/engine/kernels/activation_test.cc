#include "encdec/engine/kernels/activation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "tests/support/comparison.h"
#include "tests/support/naive_reference.h"
#include "tests/support/random_tensors.h"
#include "tests/support/vector_targets.h"

namespace encdec::kernels {
namespace {

using reference::Matrix;

constexpr std::array kActivations = {Activation::identity,  Activation::relu,         Activation::gelu,
                                     Activation::gelu_tanh, Activation::gelu_sigmoid, Activation::silu,
                                     Activation::tanh,      Activation::sigmoid};

Tensor run(Activation activation, const Tensor& gate_input, const Tensor& value) {
  Tensor output = Tensor::allocate(value.shape());
  gate(activation, gate_input.data<float>(), value.data<float>(), static_cast<int>(value.width()),
       output.data<float>());
  return output;
}

TEST(Gate, FollowsTheFormulaForEveryActivationAndWidth) {
  for_each_vector_target([] {
    RandomTensors random(1);
    for (const Activation activation : kActivations) {
      for (const int width : {16, 33, 100}) {
        for (const double limit : {1.0, 4.0}) {
          const Tensor gate_input = random.uniform({1, width}, limit), value = random.uniform({1, width});
          EXPECT_TRUE(is_close_to(multiply(reference::activate(activation, Matrix(gate_input)), Matrix(value)),
                                  run(activation, gate_input, value)))
              << to_string(activation) << ", width " << width << ", up to " << limit;
        }
      }
    }
  });
}

TEST(Gate, AnElementHasTheSameBitsAtEveryPlaceInARow) {
  for_each_vector_target([] {
    RandomTensors random(2);
    const Tensor gate_input = random.uniform({1, 67}, 5.0), value = random.uniform({1, 67});
    for (const Activation activation : kActivations) {
      const Tensor all = run(activation, gate_input, value);
      for (int i = 0; i < 67; ++i) {
        float alone = 0;
        gate(activation, gate_input.data<float>() + i, value.data<float>() + i, 1, &alone);
        ASSERT_EQ(all.data<float>()[i], alone) << to_string(activation) << ", element " << i;
      }
    }
  });
}

// Large enough that exp() overflows.
TEST(Gate, LargeInputsGiveTheLimitsOfTheFormula) {
  for_each_vector_target([] {
    constexpr std::array kLarge = {-1e4f, -1000.0f, -150.0f, -90.0f, -20.0f, 20.0f, 90.0f, 150.0f, 1000.0f, 1e4f};
    Tensor gate_input = Tensor::allocate({1, static_cast<Dim>(kLarge.size())});
    std::ranges::copy(kLarge, gate_input.row(0));
    const Tensor value = RandomTensors(3).uniform(gate_input.shape());
    for (const Activation activation : kActivations) {
      if (activation == Activation::sigmoid)
        continue;  // a sigmoid comes arbitrarily close to 0, so relative bounds do not hold
      EXPECT_TRUE(is_close_to(multiply(reference::activate(activation, Matrix(gate_input)), Matrix(value)),
                              run(activation, gate_input, value)))
          << to_string(activation);
    }
  });
}

TEST(Gate, LargeInputsGiveNoNaN) {
  for_each_vector_target([] {
    for (const float large : {1e4f, -1e4f, 1e30f, -1e30f}) {
      for (const Activation activation : kActivations) {
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
