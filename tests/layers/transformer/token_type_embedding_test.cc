#include "encdec/layers/transformer/token_type_embedding.h"

#include <gtest/gtest.h>

#include "tests/layers/layer_contract.h"
#include "tests/support/naive_reference.h"
#include "tests/support/random_tensors.h"

namespace encdec {
namespace {

using reference::Matrix;

// Adds the row of the first type.
std::vector<LayerCase> token_type_cases() {
  RandomTensors random(1);
  return {
      {.name = "2 types",
       .weights = {{"weight", random.uniform({2, 5})}},
       .make =
           [](const WeightScope& weights) {
             return std::make_shared<TokenTypeEmbedding>(weights, TokenTypeOptions{.types = 2, .model_dim = 5});
           },
       .inputs = {random.uniform({7, 5})},
       .expected =
           [](const LayerCase& self) {
             const std::vector<Matrix> rows(7, Matrix(self.weights.at("weight")).slice_rows(0, 1));
             return add(Matrix(self.inputs[0]), reference::stack(rows));
           },
       .refused = {{{}, "0 inputs, expected 1"}, {{{kSourceRows, 6}}, "input has shape [S, 6], expected [rows, 5]"}}}};
}
INSTANTIATE_TEST_SUITE_P(TokenTypeEmbedding, LayerContract, testing::Values(&token_type_cases));

}  // namespace
}  // namespace encdec
