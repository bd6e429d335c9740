#include "long_inputs/image_self_attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "golden_layer.h"
#include "tests/layers/bad_input.h"
#include "tests/support/comparison.h"
#include "tests/support/naive_reference.h"
#include "tests/support/random_tensors.h"

namespace lessons {
namespace {

using Options = ImageSelfAttentionOptions;
using Output = ImageAttentionOutput;
using reference::Matrix;

struct Widths {
  Dim channels, key, value;
};

Options options_for(const Widths& widths, Output output, Bias bias = Bias::required) {
  return {.channels = widths.channels,
          .key_channels = widths.key,
          .value_channels = widths.value,
          .output = output,
          .bias = bias};
}

std::vector<std::pair<std::string, Shape>> projection_shapes(const Options& options) {
  const Dim c = options.channels, key = options.key_channels, value = options.value_channels;
  std::vector<std::pair<std::string, Shape>> shapes = {{"query", {key, c}}, {"key", {key, c}}, {"value", {value, c}}};
  if (options.output == Output::projected) shapes.push_back({"output", {c, value}});
  return shapes;
}

Tensor rows_of(const Tensor& x) {
  return x.reshape({x.rows(), x.width()});
}

Matrix expected_of(const WeightScope& weights, const Options& options, const Tensor& x) {
  std::map<std::string, Shape> shapes;
  for (const auto& [name, shape] : projection_shapes(options)) shapes[name] = shape;
  const auto project = [&](const std::string& name, const Matrix& rows) {
    const Matrix weight((weights / name).tensor("weight", shapes.at(name)));
    if (!(weights / name).has("bias")) return linear(rows, weight, nullptr);
    const Matrix bias((weights / name).tensor("bias", {shapes.at(name)[0]}));
    return linear(rows, weight, &bias);
  };
  const std::int64_t positions = x.shape()[1] * x.shape()[2];
  std::vector<Matrix> images;
  for (Dim image = 0; image < x.shape()[0]; ++image) {
    const Matrix rows = Matrix(rows_of(x)).slice_rows(image * positions, positions);
    const Matrix attended =
        attention(project("query", rows), project("key", rows), project("value", rows), {.scale = 1.0});
    const Matrix o = options.output == Output::projected ? project("output", attended) : attended;
    Matrix gamma(o.rows, o.columns);
    std::ranges::fill(gamma.values, weights.tensor("gamma", {1}).data<float>()[0]);
    images.push_back(add(multiply(gamma, o), rows));
  }
  return reference::stack(images);
}

struct ImageCase {
  Options options;
  std::map<std::string, Tensor> weights;
  Tensor x;

  ImageCase(std::uint64_t seed, const Options& given_options, const Shape& shape) : options(given_options) {
    RandomTensors random(seed);
    for (const auto& [name, projection] : projection_shapes(options)) {
      weights[name + ".weight"] = random.uniform(projection, std::sqrt(3.0 / static_cast<double>(projection[1])));
      if (options.bias == Bias::required) weights[name + ".bias"] = random.uniform({projection[0]}, 0.5);
    }
    weights["gamma"] = random.uniform({1});
    x = random.uniform(shape);
  }

  LayerRunner runner(int threads) const {
    return {std::make_shared<ImageSelfAttention>(make_scope(weights, {.threads = threads}), options),
            std::vector<Shape>{{kBatch, x.shape()[1], x.shape()[2], x.width()}}, threads};
  }

  Tensor run(int threads) const { return runner(threads).run(std::array{x}, {}); }
  Matrix expected() const { return expected_of(make_scope(weights), options, x); }
};

TEST(ImageSelfAttention, FollowsTheFormulaForEverySize) {
  for (const Widths& widths : {Widths{1, 1, 1}, {7, 3, 5}, {16, 2, 2}, {33, 4, 40}, {64, 8, 8}}) {
    for (const auto& [batch, height, width] :
         {std::array<Dim, 3>{1, 1, 1}, {2, 3, 5}, {3, 1, 7}, {1, 13, 11}, {0, 2, 2}, {2, 0, 3}, {1, 17, 16}}) {
      for (const Bias bias : {Bias::required, Bias::none}) {
        for (const Output output : {Output::projected, Output::direct}) {
          Options options = options_for(widths, output, bias);
          if (output == Output::direct) options.value_channels = widths.channels;
          const ImageCase c(1, options, {batch, height, width, widths.channels});
          if (batch * height == 0) {
            EXPECT_EQ(c.run(2).shape(), c.x.shape());
            continue;
          }
          for (const int threads : {1, 2}) {
            EXPECT_TRUE(is_close_to(c.expected(), c.run(threads)))
                << to_string(c.x.shape()) << ", C' " << widths.key << ", C'' " << options.value_channels;
          }
        }
      }
    }
  }
}

TEST(ImageSelfAttention, MatchesPyTorch) {
  const GoldenLayer golden("image_self_attention");
  for (const auto& [name, widths, output] : {std::tuple{"paper", Widths{16, 2, 2}, Output::projected},
                                             {"biases", Widths{11, 3, 5}, Output::projected},
                                             {"direct", Widths{8, 1, 8}, Output::direct},
                                             {"one_pixel", Widths{9, 2, 3}, Output::projected}}) {
    const Tensor x = golden.input(name, "x");
    const WeightScope weights = golden.weights(name);
    const Options options = options_for(widths, output, Bias::optional);
    LayerRunner runner(std::make_shared<ImageSelfAttention>(weights, options), std::vector<Shape>{x.shape()});
    const Matrix expected = expected_of(weights, options, x);
    EXPECT_TRUE(is_close_to(expected, golden.output(name, "y"))) << name;
    EXPECT_TRUE(is_close_to(expected, runner.run(std::array{x}, {}))) << name;
  }
}

TEST(ImageSelfAttention, UsesAnEighthOfTheChannelsByDefault) {
  for (const auto& [output, value] : {std::pair<Output, Dim>{Output::projected, 3}, {Output::direct, 25}}) {
    const ImageCase c(2, options_for({25, 3, value}, output), {2, 3, 4, 25});
    ImageCase defaults = c;
    defaults.options.key_channels = defaults.options.value_channels = 0;
    EXPECT_TRUE(same_bits(c.run(1), defaults.run(1)));
  }
}

TEST(ImageSelfAttention, WithAGammaOfZeroGivesItsInput) {
  ImageCase c(3, options_for({16, 2, 3}, Output::projected), {2, 4, 4, 16});
  c.weights["gamma"] = Tensor::allocate({1});
  EXPECT_TRUE(same_bits(c.x, c.run(1)));
}

TEST(ImageSelfAttention, OtherImagesDoNotChangeABit) {
  for (const Shape& shape : {Shape{3, 3, 5, 16}, Shape{3, 24, 23, 16}}) {
    const ImageCase c(4, options_for({16, 2, 5}, Output::projected), shape);
    const Tensor all = c.run(3);
    for (Dim image = 0; image < 3; ++image) {
      ImageCase alone = c;
      alone.x = c.x.slice(image, 1);
      EXPECT_TRUE(same_bits(all.slice(image, 1), alone.run(1))) << image;
    }
  }
}

TEST(ImageSelfAttention, NumberOfThreadsDoesNotChangeABit) {
  for (const Shape& shape : {Shape{2, 9, 7, 33}, Shape{1, 31, 23, 33}}) {
    const ImageCase c(5, options_for({33, 4, 33}, Output::direct), shape);
    const Tensor alone = c.run(1);
    for (const int threads : {2, 3}) EXPECT_TRUE(same_bits(alone, c.run(threads))) << threads;
  }
}

TEST(ImageSelfAttention, ANaNStaysInItsImage) {
  ImageCase c(6, options_for({16, 2, 2}, Output::projected), {3, 4, 5, 16});
  const Tensor clean = c.run(2);
  c.x = copy_of(c.x);
  c.x.row(27)[3] = std::numeric_limits<float>::quiet_NaN();
  const Tensor poisoned = c.run(2);
  EXPECT_TRUE(same_bits(clean.slice(0, 1), poisoned.slice(0, 1)));
  EXPECT_TRUE(same_bits(clean.slice(2, 1), poisoned.slice(2, 1)));
  EXPECT_TRUE(std::isnan(poisoned.row(20)[0]));
}

TEST(ImageSelfAttention, AnObserverGetsTheWeightsOfEachPosition) {
  const ImageCase c(7, options_for({16, 2, 2}, Output::projected), {2, 20, 28, 16});
  LayerRunner runner = c.runner(2);
  const Tensor unobserved = runner.run(std::array{c.x}, {});
  std::vector<int> calls(1120);
  runner.state().observe_attention(Edge{1}, [&](const AttentionWeights& attention) {
    ++calls[static_cast<std::size_t>(attention.row)];
    ASSERT_EQ(attention.weights.size(), 560u);
    double sum = 0.0;
    for (const float weight : attention.weights) sum += weight;
    EXPECT_NEAR(sum, 1.0, 600 * 0x1p-24);
  });
  EXPECT_TRUE(same_bits(unobserved, runner.run(std::array{c.x}, {})));
  EXPECT_EQ(std::ranges::count(calls, 1), 1120);
}

TEST(ImageSelfAttention, EveryWeightIsChecked) {
  for (const Output output : {Output::projected, Output::direct}) {
    const ImageCase c(8, options_for({6, 2, 6}, output), {1, 2, 2, 6});
    expect_every_weight_is_checked<ImageSelfAttention>(c.weights, c.options);
  }
}

TEST(ImageSelfAttention, RefusesImpossibleNumbersOfChannels) {
  const auto message_of = [](const Options& options) -> std::string {
    try {
      ImageSelfAttention(make_scope({}), options);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "no exception";
  };
  EXPECT_EQ(message_of({.channels = 7}),
            "image_self_attention: 7 channels, 0 of keys and 0 of values, expected 1 or more");
  EXPECT_EQ(message_of({.channels = 8, .key_channels = -1}),
            "image_self_attention: 8 channels, -1 of keys and 1 of values, expected 1 or more");
  EXPECT_EQ(message_of({.channels = 8, .value_channels = 4, .output = Output::direct}),
            "image_self_attention: 4 value channels without an output projection, expected 8");
}

TEST(ImageSelfAttention, RefusesInputsThatDoNotFit) {
  const ImageCase c(9, options_for({6, 2, 6}, Output::projected), {1, 2, 2, 6});
  const auto layer = std::make_shared<ImageSelfAttention>(make_scope(c.weights), c.options);
  EXPECT_EQ(shape_error(layer, {{4, 6}}), "input has shape [4, 6], expected [batch, height, width, 6]");
  EXPECT_EQ(shape_error(layer, {{1, 2, 2, 5}}), "input has shape [1, 2, 2, 5], expected [batch, height, width, 6]");
  EXPECT_EQ(shape_error(layer, {}), "0 inputs, expected 1");
}

}  // namespace
}  // namespace lessons
