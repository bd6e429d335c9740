#include "encdec/engine/weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "encdec/engine/error.h"
#include "tests/support/weights_builder.h"

namespace encdec {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// What a WeightError of `action` says, or "no exception".
template <class Action>
std::string message_of(const Action& action) {
  try {
    action();
  } catch (const WeightError& error) {
    return error.what();
  }
  return "no exception";
}

std::shared_ptr<WeightStore> store_of(std::initializer_list<const char*> names) {
  auto store = std::make_shared<WeightStore>("folder");
  for (const char* name : names) store->add(name, Tensor::allocate({2, 3}));
  return store;
}

TEST(WeightStore, RefusesASecondTensorOfAName) {
  const auto store = store_of({"a"});
  EXPECT_EQ(message_of([&] { store->add("a", Tensor()); }), "folder: tensor 'a' is there twice");
  EXPECT_EQ(store->tensors().size(), 1u);
  EXPECT_FALSE(store->find("a")->empty());
}

TEST(WeightScope, PathGrowsWithEachLevel) {
  const WeightScope root = make_scope({});
  EXPECT_EQ(root.path(), "");
  EXPECT_EQ((root / "encoder" / 0 / "query").path(), "encoder.0.query");
}

TEST(WeightScope, FindsATensorByItsScope) {
  const Tensor tensor = Tensor::allocate({2, 3});
  const WeightScope root = make_scope({{"encoder.0.weight", tensor}});
  EXPECT_EQ((root / "encoder" / 0).tensor("weight", {2, 3}).raw(), tensor.raw());
  EXPECT_TRUE((root / "encoder" / 0).has("weight"));
  EXPECT_FALSE((root / "encoder" / 1).has("weight"));
  EXPECT_FALSE(root.has("weight"));
}

TEST(WeightScope, MissingTensorIsNamedAsStored) {
  EXPECT_EQ(message_of([] {
              (make_scope({}) / "encoder").tensor("weight", {2, 3});
            }),
            "test: tensor 'encoder.weight' is missing, expected shape [2, 3]");
}

TEST(WeightScope, MissingTensorWithSeveralNamesListsThemAll) {
  const WeightScope scope(store_of({"other"}), [](const std::string& canonical) {
    return std::vector{"model." + canonical, "old." + canonical};
  });
  EXPECT_EQ(message_of([&] { (scope / "a").tensor("weight", {4}); }),
            "folder: tensor 'model.a.weight' or 'old.a.weight' is missing, expected shape [4]");
}

TEST(WeightScope, MissingTensorWithoutAnyNameGivesTheCanonicalOne) {
  const WeightScope scope(store_of({}), [](const std::string&) { return std::vector<std::string>(); });
  EXPECT_EQ(message_of([&] { (scope / "a").tensor("weight", {4}); }),
            "folder: tensor 'a.weight' is missing, expected shape [4]");
}

TEST(WeightScope, TheFirstStoredNameWins) {
  const auto store = store_of({"second", "third"});
  const WeightScope scope(store, [](const std::string&) {
    return std::vector<std::string>{"first", "second", "third"};
  });
  EXPECT_EQ(scope.tensor("any", {2, 3}).raw(), store->find("second")->raw());
  EXPECT_THAT(scope.unused(), ElementsAre("third"));
}

TEST(WeightScope, WrongShapeSaysFoundAndExpected) {
  const WeightScope scope = make_scope({{"weight", Tensor::allocate({2, 3})}});
  for (const auto& [shape, text] :
       {std::pair{Shape{3, 2}, "[3, 2]"}, std::pair{Shape{6}, "[6]"}, std::pair{Shape{2, 3, 1}, "[2, 3, 1]"}}) {
    EXPECT_EQ(message_of([&] { scope.tensor("weight", shape); }),
              "test: tensor 'weight': shape [2, 3], expected " + std::string(text));
  }
}

TEST(WeightScope, LeadingOnesMayBeMissingOrExtra) {
  const WeightScope scope = make_scope({{"wide", Tensor::allocate({1, 1, 5})}, {"flat", Tensor::allocate({5})}});
  EXPECT_EQ(scope.tensor("wide", {5}).shape(), Shape{5});
  EXPECT_EQ(scope.tensor("flat", {1, 5}).shape(), Shape({1, 5}));
  EXPECT_THROW(scope.tensor("flat", {5, 1}), WeightError);
  EXPECT_EQ(make_scope({{"one", Tensor::allocate({})}}).tensor("one", {1, 1}).shape(), Shape({1, 1}));
}

TEST(WeightScope, OnlyTypesOfWeightsAreTaken) {
  for (const DataType type : {DataType::float32, DataType::float16, DataType::bfloat16}) {
    EXPECT_EQ(make_scope({{"w", Tensor::allocate({2}, type)}}).tensor("w", {2}).type(), type);
  }
  EXPECT_EQ(message_of([] {
              make_scope({{"w", Tensor::allocate({2}, DataType::int8)}}).tensor("w", {2});
            }),
            "test: tensor 'w': stored as int8, expected float32, float16 or bfloat16");
}

TEST(WeightScope, UnusedTensorsAreThoseThatNobodyGot) {
  const WeightScope root(store_of({"a.weight", "b.weight", "c.weight"}));
  EXPECT_THAT(root.unused(), ElementsAre("a.weight", "b.weight", "c.weight"));
  const WeightScope deeper = root / "b";
  deeper.tensor("weight", {2, 3});
  EXPECT_TRUE((root / "a").has("weight"));                        // asked about, not taken
  EXPECT_THROW((root / "c").tensor("weight", {9}), WeightError);  // refused
  EXPECT_THAT(root.unused(), ElementsAre("a.weight", "c.weight"));
  (root / "a").tensor("weight", {2, 3});
  (root / "c").tensor("weight", {2, 3});
  EXPECT_THAT(deeper.unused(), IsEmpty());
}

TEST(WeightScope, SeveralThreadsMayTakeTensorsAtOnce) {
  auto store = std::make_shared<WeightStore>("folder");
  for (int i = 0; i < 400; ++i) store->add(std::to_string(i), Tensor::allocate({1}));
  const WeightScope scope{std::shared_ptr<const WeightStore>(store)};
  {
    std::vector<std::jthread> threads;
    for (int first = 0; first < 4; ++first) {
      threads.emplace_back([&, first] {
        for (int i = first; i < 400; i += 4) scope.tensor(std::to_string(i), {1});
      });
    }
  }
  EXPECT_THAT(scope.unused(), IsEmpty());
}

}  // namespace
}  // namespace encdec
