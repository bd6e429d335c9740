#include "encdec/layers/transformer/embedding.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "tests/layers/bad_input.h"
#include "tests/layers/layer_contract.h"
#include "tests/support/comparison.h"
#include "tests/support/naive_reference.h"
#include "tests/support/random_tensors.h"

namespace encdec {
namespace {

using reference::Matrix;

LayerRunner runner_for(const Tensor& table, float scale) {
  return {std::make_shared<Embedding>(
              make_scope({{"weight", table}}),
              EmbeddingOptions{.vocabulary = table.shape()[0], .model_dim = table.shape()[1], .scale = scale}),
          std::vector<Shape>{{kTargetRows}},
          1,
          {DataType::int32}};
}

TEST(Embedding, ReturnsTheRowOfEachId) {
  RandomTensors random(1);
  for (const DataType type : {DataType::float32, DataType::float16, DataType::bfloat16}) {
    for (const auto& [vocabulary, width] : {std::pair<int, Dim>{1, 1}, {7, 5}, {100, 64}}) {
      const Tensor table = random.uniform({vocabulary, width}, 1.0, type);
      LayerRunner runner = runner_for(table, 1.0f);
      for (const int rows : {1, 6}) {
        const Tensor ids = random.ids(rows, vocabulary);
        const Matrix all(table);
        std::vector<Matrix> expected;
        for (int r = 0; r < rows; ++r) expected.push_back(all.slice_rows(ids.data<std::int32_t>()[r], 1));
        EXPECT_TRUE(equals(reference::stack(expected), runner.run(std::array{ids}, {}))) << to_string(type);
      }
    }
  }
}

TEST(Embedding, MultipliesByTheScale) {
  const Tensor table = RandomTensors(2).integers({9, 16}, 100);
  LayerRunner runner = runner_for(table, 4.0f);
  Tensor ids = Tensor::allocate({9}, DataType::int32);
  for (int i = 0; i < 9; ++i) ids.data<std::int32_t>()[i] = i;
  Matrix expected(table);
  for (double& value : expected.values) value *= 4.0;
  EXPECT_TRUE(equals(expected, runner.run(std::array{ids}, {})));
}

TEST(Embedding, RefusesIdsOutsideTheVocabulary) {
  expect_ids_outside_a_vocabulary_of_9_are_refused(runner_for(Tensor::allocate({9, 4}), 1.0f));
}

std::vector<LayerCase> embedding_cases() {
  RandomTensors random(1);
  return {{.name = "9 x 4",
           .weights = {{"weight", random.uniform({9, 4})}},
           .make =
               [](const WeightScope& weights) {
                 return std::make_shared<Embedding>(weights, EmbeddingOptions{.vocabulary = 9, .model_dim = 4});
               },
           .inputs = {random.ids(30, 9)},
           .refused = {{{}, "expected one input of token ids, [rows]"},
                       {{{3, 4}}, "expected one input of token ids, [rows]"},
                       {{{3}, {3}}, "expected one input of token ids, [rows]"}}}};
}
INSTANTIATE_TEST_SUITE_P(Embedding, LayerContract, testing::Values(&embedding_cases));

}  // namespace
}  // namespace encdec
