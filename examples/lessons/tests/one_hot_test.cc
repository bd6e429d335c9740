#include "inputs/one_hot.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "encdec/layers/transformer/embedding.h"
#include "encdec/layers/transformer/linear.h"
#include "golden_layer.h"
#include "tests/layers/bad_input.h"
#include "tests/support/comparison.h"
#include "tests/support/naive_reference.h"
#include "tests/support/random_tensors.h"

namespace lessons {
namespace {

using reference::Matrix;

// Transposes a tensor [R, C] as floats: [C, R].
Tensor transposed(const Tensor& tensor) {
  const Dim rows = tensor.shape()[0], columns = tensor.shape()[1];
  Tensor turned = Tensor::allocate({columns, rows});
  for (Dim r = 0; r < rows; ++r) {
    for (Dim c = 0; c < columns; ++c) turned.row(c)[r] = tensor.row(r)[c];
  }
  return turned;
}

Tensor run(Graph graph, const Tensor& ids, int threads = 1) {
  const Executor executor(std::move(graph));
  RunState state(executor.graph(), std::make_shared<ThreadTeam>(threads));
  return copy_of(executor.run(std::array{ids}, state)[0]);
}

Edge linear(Graph& graph, const std::string& name, Edge x, const Tensor& weight) {
  const LinearOptions options{.input_width = weight.shape()[1], .output_width = weight.shape()[0], .bias = Bias::none};
  return graph.add(name, std::make_shared<Linear>(make_scope({{"weight", weight}}), options), {x});
}

// Maps ids to unit vectors, then applies the linear map of each table [V, D], one after another.
Tensor mapped(const Tensor& ids, const std::vector<Tensor>& tables, int threads = 1) {
  Graph graph("test");
  const Edge tokens = graph.input("ids", {kSourceRows}, DataType::int32);
  Edge x = graph.add("one_hot", std::make_shared<OneHot>(tables[0].shape()[0]), {tokens});
  for (std::size_t i = 0; i < tables.size(); ++i) {
    x = linear(graph, "linear." + std::to_string(i), x, transposed(tables[i]));
  }
  graph.output(x);
  return run(std::move(graph), ids, threads);
}

Tensor looked_up(const Tensor& ids, const Tensor& table) {
  Graph graph("test");
  const Edge tokens = graph.input("ids", {kSourceRows}, DataType::int32);
  graph.output(graph.add(
      "embedding",
      std::make_shared<Embedding>(make_scope({{"weight", table}}),
                                  EmbeddingOptions{.vocabulary = table.shape()[0], .model_dim = table.shape()[1]}),
      {tokens}));
  return run(std::move(graph), ids);
}

LayerRunner runner_for(Dim vocabulary) {
  return {std::make_shared<OneHot>(vocabulary), std::vector<Shape>{{kTargetRows}}, 1, {DataType::int32}};
}

TEST(OneHot, IsOneAtTheTokenAndZeroElsewhere) {
  RandomTensors random(1);
  for (const std::int32_t vocabulary : {1, 2, 7, 64, 101}) {
    LayerRunner runner = runner_for(vocabulary);
    for (const int rows : {1, 3, 13}) {
      const Tensor ids = random.ids(rows, vocabulary);
      const Tensor output = runner.run(std::array{ids}, {});
      ASSERT_EQ(output.shape(), (Shape{rows, vocabulary}));
      for (int r = 0; r < rows; ++r) {
        for (std::int32_t c = 0; c < vocabulary; ++c) {
          ASSERT_EQ(output.row(r)[c], c == ids.data<std::int32_t>()[r] ? 1.0f : 0.0f) << r << ", " << c;
        }
      }
    }
  }
}

// Products with 0 and 1 and sums with 0 are exact in any order.
TEST(OneHot, AnEmbeddingIsALinearMapOfOneHotVectors) {
  RandomTensors random(2);
  for (const auto& [vocabulary, width] : {std::pair<int, int>{1, 1}, {7, 5}, {101, 31}, {300, 64}}) {
    const Tensor table = random.uniform({vocabulary, width}, 3.0);
    for (const int rows : {1, 6, 37}) {
      const Tensor ids = random.ids(rows, vocabulary);
      for (const int threads : {1, 3}) {
        EXPECT_TRUE(same_bits(looked_up(ids, table), mapped(ids, {table}, threads))) << vocabulary << " tokens";
      }
    }
  }
}

// Each word belongs to one class, given by a matrix of zeros and ones [V, C].
TEST(OneHot, WordsOfAClassShareARow) {
  RandomTensors random(3);
  constexpr int kWords = 23, kClasses = 5, kWidth = 7;
  const Tensor of_class = random.uniform({kClasses, kWidth});
  Tensor membership = Tensor::allocate({kWords, kClasses}), shared = Tensor::allocate({kWords, kWidth});
  for (int word = 0; word < kWords; ++word) {
    const int number = word < kClasses ? word : random.below(kClasses);
    membership.row(word)[number] = 1.0f;
    std::copy_n(of_class.row(number), kWidth, shared.row(word));
  }
  const Tensor ids = random.ids(40, kWords);
  EXPECT_TRUE(same_bits(looked_up(ids, shared), mapped(ids, {membership, of_class})));
}

TEST(OneHot, MatchesPyTorch) {
  const GoldenLayer golden("one_hot");
  const Tensor ids = golden.input("tokens", "ids");
  const Tensor table = golden.weights("tokens").tensor("embedding.weight", {7, 5});
  EXPECT_TRUE(same_bits(golden.output("tokens", "one_hot"), runner_for(7).run(std::array{ids}, {})));
  EXPECT_TRUE(same_bits(golden.output("tokens", "rows"), mapped(ids, {table})));

  const Tensor of_class = golden.weights("classes").tensor("class.weight", {3, 7});
  const Tensor classes = golden.weights("classes").tensor("embedding.weight", {3, 5});
  EXPECT_TRUE(same_bits(golden.output("classes", "rows"),
                        mapped(golden.input("classes", "ids"), {transposed(of_class), classes})));
}

TEST(OneHot, RefusesIdsOutsideTheVocabulary) {
  expect_ids_outside_a_vocabulary_of_9_are_refused(runner_for(9));
}

TEST(OneHot, RefusesInputsThatDoNotFit) {
  EXPECT_EQ(shape_error(std::make_shared<OneHot>(9), {{3, 4}}), "expected one input of token ids, [rows]");
  EXPECT_EQ(shape_error(std::make_shared<OneHot>(9), {}), "expected one input of token ids, [rows]");
  EXPECT_THROW(OneHot(0), ConfigError);
}

}  // namespace
}  // namespace lessons
