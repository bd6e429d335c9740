#include "encdec/layers/transformer/embedding.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/layers/bad_input.h"
#include "tests/layers/layer_contract.h"
#include "tests/support/random_tensors.h"

namespace encdec {
namespace {

using reference::Matrix;

std::vector<LayerCase> embedding_cases() {
  RandomTensors random(1);
  std::vector<LayerCase> cases;
  for (const EmbeddingOptions& options : {EmbeddingOptions{.vocabulary = 1, .model_dim = 1},
                                          {.vocabulary = 7, .model_dim = 5, .scale = 4},
                                          {.vocabulary = 100, .model_dim = 64}}) {
    cases.push_back({.name = fmt::format("{} x {}", options.vocabulary, options.model_dim),
                     .weights = {{"weight", random.uniform({options.vocabulary, options.model_dim})}},
                     .make = [=](const WeightScope& weights) { return std::make_shared<Embedding>(weights, options); },
                     .inputs = {random.ids(30, static_cast<std::int32_t>(options.vocabulary))},
                     .expected =
                         [=](const LayerCase& one) {
                           const Matrix table(one.weights.at("weight"));
                           std::vector<Matrix> rows;
                           for (int row = 0; row < 30; ++row) {
                             rows.push_back(table.slice_rows(one.inputs[0].data<std::int32_t>()[row], 1));
                             for (double& value : rows.back().values) value *= static_cast<double>(options.scale);
                           }
                           return reference::stack(rows);
                         },
                     .refused = {{{}, "expected one input of token ids, [rows]"},
                                 {{{3, 4}}, "expected one input of token ids, [rows]"},
                                 {{{3}, {3}}, "expected one input of token ids, [rows]"}}});
  }
  return cases;
}
INSTANTIATE_TEST_SUITE_P(Embedding, LayerContract, testing::Values(&embedding_cases));

TEST(Embedding, RefusesIdsOutsideTheVocabulary) {
  expect_ids_outside_a_vocabulary_of_9_are_refused(
      {std::make_shared<Embedding>(make_scope({{"weight", Tensor::allocate({9, 4})}}),
                                   EmbeddingOptions{.vocabulary = 9, .model_dim = 4}),
       std::vector<Shape>{{kTargetRows}},
       1,
       {DataType::int32}});
}

}  // namespace
}  // namespace encdec
