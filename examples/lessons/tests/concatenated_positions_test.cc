#include "inputs/concatenated_positions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "encdec/layers/transformer/positional_encoding.h"
#include "golden_layer.h"
#include "tests/layers/bad_input.h"
#include "tests/support/comparison.h"
#include "tests/support/naive_reference.h"
#include "tests/support/random_tensors.h"

namespace lessons {
namespace {

using Kind = PositionOptions::Kind;
using reference::Matrix;

struct Sizes {
  Dim input;
  Dim encoding;
  Dim output;
};

constexpr std::array kSizes = {Sizes{1, 1, 1}, Sizes{7, 3, 5}, Sizes{16, 16, 16}, Sizes{31, 64, 13}, Sizes{5, 1, 33}};
constexpr std::array kSequenceRows = {3, 1, 7};
constexpr std::array kPasts = {0, 5, 13};
constexpr Dim kPositions = 20;

struct PositionsCase {
  ConcatenatedPositionOptions options;
  std::map<std::string, Tensor> weights;
  Tensor input;

  PositionsCase(const Sizes& sizes, Kind kind, SinusoidLayout layout = SinusoidLayout::interleaved) {
    options = {.input_width = sizes.input,
               .output_width = sizes.output,
               .positions = {.kind = kind, .model_dim = sizes.encoding, .layout = layout, .count = kPositions}};
    RandomTensors random(1);
    weights["weight"] = random.uniform({sizes.output, sizes.input + sizes.encoding});
    weights["bias"] = random.uniform({sizes.output});
    if (kind == Kind::learned) weights["positions.weight"] = random.uniform({kPositions, sizes.encoding});
    input = random.uniform({11, sizes.input});
  }

  LayerRunner runner(int threads = 1) const {
    return {std::make_shared<ConcatenatedPositions>(make_scope(weights, {.threads = threads}), options),
            std::vector<Shape>{{kTargetRows, options.input_width}}, threads};
  }
  Tensor run(int threads = 1) const { return runner(threads).run(std::array{input}, packed(kSequenceRows, kPasts)); }

  // Returns the encodings of the rows of all sequences.
  Matrix encodings() const {
    const Dim width = options.positions.model_dim;
    std::vector<Matrix> parts;
    for (std::size_t i = 0; i < kSequenceRows.size(); ++i) {
      if (options.positions.kind == Kind::learned) {
        parts.push_back(Matrix(weights.at("positions.weight")).slice_rows(kPasts[i], kSequenceRows[i]));
      } else if (options.positions.layout == SinusoidLayout::interleaved) {
        parts.push_back(reference::sinusoids_interleaved(kPasts[i], kSequenceRows[i], width));
      } else {
        parts.push_back(reference::sinusoids_halves(kPasts[i], kSequenceRows[i], width));
      }
    }
    return reference::stack(parts);
  }
  Matrix weight() const { return Matrix(weights.at("weight")); }
  Matrix bias() const { return Matrix(weights.at("bias")); }
};

std::vector<PositionsCase> all_cases() {
  std::vector<PositionsCase> cases;
  for (const Sizes& sizes : kSizes) {
    cases.emplace_back(sizes, Kind::learned);
    cases.emplace_back(sizes, Kind::sinusoidal, SinusoidLayout::interleaved);
    cases.emplace_back(sizes, Kind::sinusoidal, SinusoidLayout::halves);
  }
  return cases;
}

TEST(ConcatenatedPositions, MapsEachRowFollowedByItsEncoding) {
  for (const PositionsCase& c : all_cases()) {
    const Matrix bias = c.bias();
    EXPECT_TRUE(is_close_to(linear(beside(Matrix(c.input), c.encodings()), c.weight(), &bias), c.run()))
        << to_string(c.input.shape());
  }
}

// A linear map of input and encoding together is the sum of a map of each. Adding positions is a special case.
TEST(ConcatenatedPositions, IsTheSumOfAMapOfTheInputAndAMapOfTheEncoding) {
  for (const PositionsCase& c : all_cases()) {
    const Dim input = c.options.input_width, encoding = c.options.positions.model_dim;
    const Matrix bias = c.bias();
    const Matrix of_input = linear(Matrix(c.input), c.weight().slice_columns(0, input), &bias);
    const Matrix of_position = linear(c.encodings(), c.weight().slice_columns(input, encoding), nullptr);
    EXPECT_TRUE(is_close_to(add(of_input, of_position), c.run())) << to_string(c.input.shape());
  }
}

TEST(ConcatenatedPositions, WithTwoIdentitiesItAddsPositions) {
  for (const SinusoidLayout layout :
       {SinusoidLayout::interleaved, SinusoidLayout::halves, SinusoidLayout::timing_signal}) {
    constexpr Dim kWidth = 17;
    PositionsCase c({kWidth, kWidth, kWidth}, Kind::sinusoidal, layout);
    Tensor identities = Tensor::allocate({kWidth, 2 * kWidth});
    for (Dim i = 0; i < kWidth; ++i) identities.row(i)[i] = identities.row(i)[kWidth + i] = 1.0f;
    c.weights = {{"weight", identities}};
    c.options.bias = Bias::none;
    LayerRunner adding(std::make_shared<PositionalEncoding>(layout, kWidth), std::vector<Shape>{{kTargetRows, kWidth}});
    EXPECT_TRUE(same_bits(adding.run(std::array{c.input}, packed(kSequenceRows, kPasts)), c.run()));
  }
}

TEST(ConcatenatedPositions, MatchesPyTorch) {
  const GoldenLayer golden("positions");
  for (const auto& [name, kind] :
       {std::pair{"concatenated_sinusoidal", Kind::sinusoidal}, {"concatenated_learned", Kind::learned}}) {
    const WeightScope weights = golden.weights(name);
    const ConcatenatedPositionOptions options{
        .input_width = 6,
        .output_width = 5,
        .positions = {.kind = kind, .model_dim = 3, .layout = SinusoidLayout::interleaved, .count = 8}};
    LayerRunner runner(std::make_shared<ConcatenatedPositions>(weights, options), std::vector<Shape>{{kTargetRows, 6}});
    const Tensor x = golden.input(name, "x");
    const Matrix encodings = kind == Kind::learned ? Matrix(weights.tensor("positions.weight", {8, 3})).slice_rows(3, 5)
                                                   : reference::sinusoids_interleaved(3, 5, 3);
    const Matrix bias(weights.tensor("bias", {5}));
    const Matrix expected = linear(beside(Matrix(x), encodings), Matrix(weights.tensor("weight", {5, 9})), &bias);
    EXPECT_TRUE(is_close_to(expected, golden.output(name, "y"))) << name;
    EXPECT_TRUE(is_close_to(expected, runner.run(std::array{x}, packed(std::array{5}, std::array{3})))) << name;
  }
}

TEST(ConcatenatedPositions, NeighboursAndThreadsDoNotChangeABit) {
  const PositionsCase c({31, 64, 13}, Kind::sinusoidal);
  const Tensor all = c.run(1);
  EXPECT_TRUE(same_bits(all, c.run(3)));
  LayerRunner runner = c.runner();
  int first = 0;
  for (std::size_t i = 0; i < kSequenceRows.size(); ++i) {
    const Tensor alone = runner.run(std::array{c.input.slice(first, kSequenceRows[i])},
                                    packed(std::array{kSequenceRows[i]}, std::array{kPasts[i]}));
    EXPECT_TRUE(same_bits(all.slice(first, kSequenceRows[i]), alone));
    first += kSequenceRows[i];
  }
}

TEST(ConcatenatedPositions, RefusesPositionsBeyondTheLearnedOnes) {
  LayerRunner runner = PositionsCase({7, 3, 5}, Kind::learned).runner();
  EXPECT_NO_THROW(runner.run(std::array{Tensor::allocate({1, 7})}, packed(std::array{1}, std::array{19})));
  EXPECT_THROW(runner.run(std::array{Tensor::allocate({2, 7})}, packed(std::array{2}, std::array{19})), InputError);
}

TEST(ConcatenatedPositions, EveryWeightIsChecked) {
  const PositionsCase c({7, 3, 5}, Kind::learned);
  expect_every_weight_is_checked<ConcatenatedPositions>(c.weights, c.options);
}

TEST(ConcatenatedPositions, RefusesInputsThatDoNotFit) {
  const PositionsCase c({7, 3, 5}, Kind::sinusoidal);
  const auto layer = std::make_shared<ConcatenatedPositions>(make_scope(c.weights), c.options);
  EXPECT_EQ(shape_error(layer, {}), "0 inputs, expected 1");
  EXPECT_EQ(shape_error(layer, {{4, 10}}), "input has shape [4, 10], expected [rows, 7]");
  EXPECT_EQ(shape_error(layer, {{4, 7}, {4, 7}}), "2 inputs, expected 1");
}

}  // namespace
}  // namespace lessons
