#include "dense/dropout.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "dense_fixture.h"
#include "tests/layers/bad_input.h"

namespace lessons {
namespace {

TEST(Dropout, KeepsEveryBitOfEveryShape) {
  const auto layer = std::make_shared<Dropout>(DropoutOptions{.rate = 0.5f});
  for (const Shape& shape : {Shape{}, Shape{7}, Shape{0, 3}, Shape{2, 5}, Shape{2, 3, 5}, Shape{2, 3, 1, 4}}) {
    const Tensor x = RandomTensors(1).uniform(shape);
    EXPECT_TRUE(same_bits(x, run_dense(layer, {x}))) << to_string(shape);
  }
}

TEST(Dropout, TakesOneInput) {
  const auto layer = std::make_shared<Dropout>(DropoutOptions{});
  EXPECT_EQ(shape_error(layer, {}), "0 inputs, expected 1");
  EXPECT_EQ(shape_error(layer, {{2}, {2}}), "2 inputs, expected 1");
}

TEST(Dropout, RefusesRatesOutsideZeroToOne) {
  for (const auto& [rate, text] : {std::pair{1.0f, "1"}, {-0.5f, "-0.5"}, {1.5f, "1.5"}, {std::nanf(""), "nan"}}) {
    try {
      Dropout layer({.rate = rate});
      ADD_FAILURE() << "no exception for " << text;
    } catch (const ConfigError& error) {
      EXPECT_EQ(error.what(), "dropout: rate " + std::string(text) + ", expected at least 0 and less than 1");
    }
  }
}

}  // namespace
}  // namespace lessons
