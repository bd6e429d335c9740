#include "encdec/layers/transformer/token_type_embedding.h"

#include <gtest/gtest.h>

#include "encdec/engine/base/error.h"
#include "tests/layers/layer_contract.h"
#include "tests/support/layer_runner.h"
#include "tests/support/message_of.h"
#include "tests/support/naive_reference.h"
#include "tests/support/random_tensors.h"
#include "tests/support/weights_builder.h"

namespace encdec {
namespace {

using reference::Matrix;

std::vector<LayerCase> token_type_cases() {
  RandomTensors random(1);
  return {{.name = "3 types",
           .weights = {{"weight", random.uniform({3, 5})}},
           .make =
               [](const WeightScope& weights) {
                 return std::make_shared<TokenTypeEmbedding>(weights, TokenTypeOptions{.types = 3, .model_dim = 5});
               },
           .inputs = {random.uniform({7, 5}), random.ids(7, 3)},
           .expected =
               [](const LayerCase& self) {
                 std::vector<Matrix> rows;
                 for (int r = 0; r < 7; ++r) {
                   rows.push_back(
                       Matrix(self.weights.at("weight")).slice_rows(self.inputs[1].data<std::int32_t>()[r], 1));
                 }
                 return add(Matrix(self.inputs[0]), reference::stack(rows));
               },
           .refused = {{{}, "0 inputs, expected 2"},
                       {{{kSourceRows, 6}, {kSourceRows}}, "input has shape [S, 6], expected [rows, 5]"},
                       {{{kSourceRows, 5}, {kTargetRows}}, "types have shape [T], expected [rows]"}}}};
}
INSTANTIATE_TEST_SUITE_P(TokenTypeEmbedding, LayerContract, testing::Values(&token_type_cases));

TEST(TokenTypeEmbedding, RefusesTypesThatTheTableLacks) {
  RandomTensors random(1);
  const auto layer = std::make_shared<TokenTypeEmbedding>(make_scope({{"weight", random.uniform({2, 4})}}),
                                                          TokenTypeOptions{.types = 2, .model_dim = 4});
  LayerRunner runner(layer, std::vector<Shape>{{kSourceRows, 4}, {kSourceRows}}, 1,
                     {DataType::float32, DataType::int32});
  for (const std::int32_t type : {-1, 2}) {
    Tensor types = Tensor::allocate({1}, DataType::int32);
    types.data<std::int32_t>()[0] = type;
    EXPECT_EQ(message_of<InputError>([&] {
                runner.run(std::vector{random.uniform({1, 4}), types}, {});
              }),
              "token type " + std::to_string(type) + ", expected 0 to 1");
  }
}

}  // namespace
}  // namespace encdec
