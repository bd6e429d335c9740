#include "encdec/layers/transformer/token_type_embedding.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/layers/bad_input.h"
#include "tests/support/comparison.h"
#include "tests/support/naive_reference.h"
#include "tests/support/random_tensors.h"

namespace encdec {
namespace {

using reference::Matrix;

TEST(TokenTypeEmbedding, AddsTheRowOfTheFirstType) {
  RandomTensors random(1);
  for (const DataType type : {DataType::float32, DataType::float16}) {
    const Tensor table = random.integers({2, 5}, 9, type), input = random.integers({7, 5}, 9);
    LayerRunner runner(std::make_shared<TokenTypeEmbedding>(make_scope({{"weight", table}}),
                                                            TokenTypeOptions{.types = 2, .model_dim = 5}),
                       std::vector<Shape>{{kSourceRows, 5}});
    const std::vector<Matrix> rows(7, Matrix(table).slice_rows(0, 1));
    EXPECT_TRUE(equals(add(Matrix(input), reference::stack(rows)), runner.run(std::array{input}, {})));
  }
}

TEST(TokenTypeEmbedding, EveryWeightIsChecked) {
  expect_every_weight_is_checked<TokenTypeEmbedding>({{"weight", Tensor::allocate({2, 4})}},
                                                     TokenTypeOptions{.types = 2, .model_dim = 4});
}

TEST(TokenTypeEmbedding, RefusesInputsThatDoNotFit) {
  const auto layer = std::make_shared<TokenTypeEmbedding>(make_scope({{"weight", Tensor::allocate({2, 4})}}),
                                                          TokenTypeOptions{.types = 2, .model_dim = 4});
  EXPECT_EQ(shape_error(layer, {}), "0 inputs, expected 1");
  EXPECT_EQ(shape_error(layer, {{kSourceRows, 5}}), "input has shape [S, 5], expected [rows, 4]");
}

}  // namespace
}  // namespace encdec
