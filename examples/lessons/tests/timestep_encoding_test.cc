#include "universal_transformer/timestep_encoding.h"

#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "golden_layer.h"
#include "tests/layers/bad_input.h"
#include "tests/support/comparison.h"
#include "tests/support/naive_reference.h"
#include "tests/support/random_tensors.h"

namespace lessons {
namespace {

using reference::Matrix;

Tensor run(SinusoidLayout layout, const Tensor& x, std::int32_t step, int threads = 1) {
  Graph graph("test");
  const Edge rows = graph.input("x", {kSourceRows, x.width()});
  const Edge step_edge = graph.input("step", {1}, DataType::int32);
  graph.output(graph.add("layer", std::make_shared<TimestepEncoding>(layout, x.width()), {rows, step_edge}));
  const Executor executor(std::move(graph));
  RunState state(executor.graph(), std::make_shared<ThreadTeam>(threads));
  const std::array inputs{x, Tensor(&step, DataType::int32, {1})};
  return copy_of(executor.run(inputs, state)[0]);
}

TEST(TimestepEncoding, AddsTheSinusoidOfTheStepToEveryRow) {
  RandomTensors random(1);
  for (const SinusoidLayout layout : {SinusoidLayout::interleaved, SinusoidLayout::halves}) {
    for (const Dim width : {1, 2, 7, 64}) {
      for (const std::int32_t step : {0, 1, 6, 1030}) {
        const Tensor x = random.uniform({5, width});
        const Matrix row = layout == SinusoidLayout::interleaved ? reference::sinusoids_interleaved(step, 1, width)
                                                                 : reference::sinusoids_halves(step, 1, width);
        EXPECT_TRUE(is_close_to(add(Matrix(x), reference::stack(std::vector(5, row))), run(layout, x, step)))
            << "width " << width << ", step " << step;
      }
    }
  }
}

TEST(TimestepEncoding, MatchesPyTorch) {
  const GoldenLayer golden("positions");
  for (const auto& [name, layout] : {std::pair{"interleaved", SinusoidLayout::interleaved},
                                     {"halves", SinusoidLayout::halves},
                                     {"timing_signal", SinusoidLayout::timing_signal}}) {
    for (const Dim width : {8, 7}) {
      const std::string c = "timestep_" + std::string(name) + "_" + std::to_string(width);
      const std::int32_t step = golden.input(c, "step").data<std::int32_t>()[0];
      Matrix expected(golden.output(c, "sum"));
      // Both sums are rounded once, and each sinusoid once before. The angles of a timing signal, below 64, are float32
      // and rounded twice.
      const double angle_error = layout == SinusoidLayout::timing_signal ? 64 * 0x1p-22 : 0.0;
      for (double& error : expected.errors) error += angle_error + 2 * 0x1p-23;
      EXPECT_TRUE(is_close_to(expected, run(layout, golden.input(c, "x"), step))) << c;
    }
  }
}

TEST(TimestepEncoding, NumberOfThreadsDoesNotChangeABit) {
  const Tensor x = RandomTensors(2).uniform({200, 129});
  EXPECT_TRUE(same_bits(run(SinusoidLayout::interleaved, x, 3), run(SinusoidLayout::interleaved, x, 3, 3)));
}

TEST(TimestepEncoding, RefusesInputsThatDoNotFit) {
  const auto layer = std::make_shared<TimestepEncoding>(SinusoidLayout::interleaved, 8);
  EXPECT_EQ(shape_error(layer, {{3, 8}}), "1 inputs, expected 2");
  EXPECT_EQ(shape_error(layer, {{3, 9}, {1}}), "input has shape [3, 9], expected [rows, 8]");
  EXPECT_EQ(shape_error(layer, {{3, 8}, {2}}), "step has shape [2], expected [1]");
  EXPECT_THROW(run(SinusoidLayout::interleaved, Tensor::allocate({1, 4}), -1), InputError);
}

}  // namespace
}  // namespace lessons
