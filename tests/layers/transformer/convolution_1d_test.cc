#include "encdec/layers/transformer/convolution_1d.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "tests/layers/bad_input.h"
#include "tests/support/comparison.h"
#include "tests/support/random_tensors.h"

namespace encdec {
namespace {

using reference::Matrix;

// A layer that only convolves: {x: [S, first_column + C + 1], any tensor of the shape of y} -> y: [T, N].
class Shortening final : public Layer {
 public:
  Shortening(const WeightScope& weights, const Convolution1dOptions& options, Dim first_column)
      : convolution_(weights, options), first_column_(first_column) {}

  std::string_view kind() const override { return "shortening"; }
  Shape output_shape(Shapes inputs) const override { return inputs[1]; }
  void forward(Inputs inputs, Tensor& output, RunState& state) const override {
    const Tensor y = convolution_.convolve(inputs[0], first_column_, state);
    ASSERT_EQ(y.shape(), output.shape());
    std::copy_n(y.data<float>(), y.elements(), output.data<float>());
  }

 private:
  Convolution1d convolution_;
  Dim first_column_;
};

struct ConvolutionCase {
  static constexpr Dim kFirstColumn = 2;

  Convolution1dOptions options;
  std::map<std::string, Tensor> weights;
  std::vector<int> rows;
  Tensor x;
  Dim outputs = 0;

  ConvolutionCase(std::uint64_t seed, const Convolution1dOptions& given_options, std::vector<int> given_rows,
                  DataType type = DataType::float32)
      : options(given_options), rows(std::move(given_rows)) {
    RandomTensors random(seed);
    const double limit = std::sqrt(3.0 / static_cast<double>(options.input_width * options.kernel));
    weights["weight"] = random.uniform({options.output_width, options.input_width, options.kernel}, limit, type);
    if (options.bias != Bias::none) weights["bias"] = random.uniform({options.output_width}, 0.5, type);
    Dim total = 0;
    for (const int count : rows) {
      total += count;
      outputs += (count + options.stride - 1) / options.stride;
    }
    x = random.uniform({total, kFirstColumn + options.input_width + 1});
  }

  Tensor run(int threads) const {
    LayerRunner runner(std::make_shared<Shortening>(make_scope(weights, {.threads = threads}), options, kFirstColumn),
                       std::vector<Shape>{{kSourceRows, x.width()}, {kTargetRows, options.output_width}}, threads);
    return runner.run(std::array{x, Tensor::allocate({outputs, options.output_width})}, packed(rows));
  }

  Matrix expected() const {
    std::vector<Matrix> parts;
    std::int64_t first = 0;
    const Matrix columns = Matrix(x).slice_columns(kFirstColumn, options.input_width);
    for (const int count : rows) {
      const Matrix bias = options.bias == Bias::none ? Matrix(1, options.output_width) : Matrix(weights.at("bias"));
      parts.push_back(convolution_1d(columns.slice_rows(first, count), weights.at("weight"), &bias, options.stride,
                                     options.padding));
      first += count;
    }
    return reference::stack(parts);
  }
};

TEST(Convolution1d, FollowsTheFormulaForEverySize) {
  for (const auto& [width, outputs] : {std::pair<Dim, Dim>{1, 1}, {7, 3}, {16, 33}, {64, 64}}) {
    for (const auto& [kernel, stride] : {std::pair<Dim, Dim>{1, 1}, {3, 3}, {3, 1}, {5, 2}, {11, 7}}) {
      for (const std::vector<int>& rows : {std::vector{1}, {9}, {4, 0, 13, 3}}) {
        for (const Bias bias : {Bias::required, Bias::none}) {
          const Convolution1dOptions options{.input_width = width,
                                             .output_width = outputs,
                                             .kernel = kernel,
                                             .stride = stride,
                                             .padding = kernel / 2,
                                             .bias = bias};
          const ConvolutionCase c(1, options, rows);
          for (const int threads : {1, 2}) {
            ASSERT_TRUE(is_close_to(c.expected(), c.run(threads)))
                << width << " to " << outputs << ", kernel " << kernel << ", stride " << stride << ", rows "
                << testing::PrintToString(rows);
          }
        }
      }
    }
  }
}

TEST(Convolution1d, HalfPrecisionWeightsAreAccepted) {
  for (const DataType type : {DataType::float16, DataType::bfloat16}) {
    const ConvolutionCase c(2, {.input_width = 5, .output_width = 4}, {8, 3}, type);
    EXPECT_TRUE(is_close_to(c.expected(), c.run(1))) << to_string(type);
  }
}

TEST(Convolution1d, NeighboursAndThreadsDoNotChangeABit) {
  const Convolution1dOptions options{.input_width = 64, .output_width = 40, .kernel = 5, .stride = 3};
  const ConvolutionCase c(3, options, {100, 1, 7, 35});
  const Tensor all = c.run(1);
  EXPECT_TRUE(same_bits(all, c.run(3)));
  Dim first = 0;
  for (const Sequence& sequence : packed(c.rows)) {
    ConvolutionCase alone = c;
    alone.rows = {sequence.rows};
    alone.x = c.x.slice(sequence.first_row, sequence.rows);
    alone.outputs = (sequence.rows + 2) / 3;
    EXPECT_TRUE(same_bits(all.slice(first, alone.outputs), alone.run(1)));
    first += alone.outputs;
  }
}

TEST(Convolution1d, TheLayerTakesSeveralPositionsPerRow) {
  for (const Dim stride : {Dim{1}, Dim{2}}) {
    const Convolution1dOptions options{.input_width = 5,
                                       .output_width = 9,
                                       .kernel = 3,
                                       .stride = stride,
                                       .padding = 1,
                                       .activation = Activation::gelu,
                                       .positions_per_row = 2};
    const ConvolutionCase c(5, options, {8, 2, 14});
    LayerRunner runner(std::make_shared<Convolution1d>(make_scope(c.weights), options),
                       std::vector<Shape>{{kSourceRows, 2 * options.input_width}}, 1);
    const Tensor x = RandomTensors(6).uniform({12, 2 * options.input_width});
    const Tensor y = runner.run(std::array{x}, packed(std::vector{4, 1, 7}));
    ASSERT_EQ(y.shape(), (Shape{12, 2 / stride * options.output_width}));

    const Matrix positions(x.reshape({24, options.input_width}));
    const Matrix bias(c.weights.at("bias"));
    std::vector<Matrix> parts;
    std::int64_t first = 0;
    for (const int count : c.rows) {
      parts.push_back(reference::gelu(convolution_1d(positions.slice_rows(first, count), c.weights.at("weight"), &bias,
                                                     options.stride, options.padding)));
      first += count;
    }
    EXPECT_TRUE(is_close_to(reference::stack(parts), y.reshape({24 / stride, options.output_width})));
  }
}

TEST(Convolution1d, PiecesOfAStreamGiveTheBitsOfTheWholeSequence) {
  const Convolution1dOptions options{
      .input_width = 5, .output_width = 9, .kernel = 5, .stride = 2, .padding = 4, .positions_per_row = 4};
  const ConvolutionCase c(7, options, {1});
  const auto make = [&] {
    return LayerRunner(std::make_shared<Convolution1d>(make_scope(c.weights), options),
                       std::vector<Shape>{{kSourceRows, 4 * options.input_width}}, 1);
  };
  LayerRunner whole = make(), pieces = make();
  const Tensor x = RandomTensors(8).uniform({12, 4 * options.input_width});
  const Tensor expected = whole.run(std::array{x}, packed(std::vector{12}));
  int first = 0;
  for (const int rows : {1, 4, 1, 6}) {
    pieces.state().stream = {.first = first};
    const Tensor y = pieces.run(std::array{x.slice(first, rows)}, packed(std::vector{rows}));
    EXPECT_TRUE(same_bits(expected.slice(first, rows), y)) << first;
    first += rows;
  }
}

TEST(Convolution1d, EveryWeightIsChecked) {
  const ConvolutionCase c(4, {.input_width = 3, .output_width = 2}, {1});
  expect_every_weight_is_checked<Convolution1d>(c.weights, c.options);
}

TEST(Convolution1d, RefusesAStrideThatSkipsPositions) {
  for (const auto& [kernel, stride] : {std::pair<Dim, Dim>{2, 3}, {3, 0}, {0, 0}, {-1, -2}}) {
    try {
      Convolution1d(make_scope({}), {.input_width = 3, .output_width = 2, .kernel = kernel, .stride = stride});
      ADD_FAILURE() << "no exception";
    } catch (const ConfigError& error) {
      EXPECT_EQ(error.what(), "convolution_1d: kernel " + std::to_string(kernel) + " and stride " +
                                  std::to_string(stride) + ", expected 1 <= stride <= kernel");
    }
  }
}

}  // namespace
}  // namespace encdec
