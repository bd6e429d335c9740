#include "encdec/engine/base/weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <thread>

#include "encdec/engine/base/error.h"
#include "tests/support/comparison.h"
#include "tests/support/message_of.h"
#include "tests/support/random_tensors.h"
#include "tests/support/weights_builder.h"

namespace encdec {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::shared_ptr<WeightStore> store_of(std::initializer_list<const char*> names) {
  auto store = std::make_shared<WeightStore>("folder");
  for (const char* name : names) store->add(name, Tensor::allocate({2, 3}));
  return store;
}

TEST(WeightStore, RefusesASecondTensorOfAName) {
  const auto store = store_of({"a"});
  EXPECT_EQ(message_of<WeightError>([&] { store->add("a", Tensor()); }), "folder: tensor 'a' is there twice");
  EXPECT_EQ(store->tensors().size(), 1u);
  EXPECT_FALSE(store->find("a")->empty());

  const Tensor integers = Tensor::allocate({2, 3}, DataType::int8), scale = Tensor::allocate({2});
  EXPECT_EQ(message_of<WeightError>([&] { store->add("a", integers, scale); }), "folder: tensor 'a' is there twice");
  EXPECT_EQ(store->find_scale("a"), nullptr);
}

TEST(WeightScope, FindsATensorByItsScope) {
  const Tensor tensor = RandomTensors(1).uniform({2, 3});
  const WeightScope root = make_scope({{"encoder.0.weight", tensor}});
  EXPECT_EQ((root / "encoder" / 0 / "query").path(), "encoder.0.query");
  EXPECT_TRUE(same_bits((root / "encoder" / 0).tensor("weight", {2, 3}), tensor));
  EXPECT_TRUE((root / "encoder" / 0).has("weight"));
  EXPECT_FALSE((root / "encoder" / 1).has("weight"));
  EXPECT_FALSE(root.has("weight"));
}

TEST(WeightScope, AMissingTensorIsNamedAsStoredElseByItsScope) {
  const auto message = [](std::vector<StoredName> names) {
    const WeightScope scope(store_of({"other"}), [&](const std::string&) { return names; });
    return message_of<WeightError>([&] { (scope / "a").tensor("weight", {4}); });
  };
  EXPECT_EQ(message({"model.a.weight"}), "folder: tensor 'model.a.weight' is missing, expected shape [4]");
  EXPECT_EQ(message({"model.a.weight", "old.a.weight"}),
            "folder: tensor 'model.a.weight' or 'old.a.weight' is missing, expected shape [4]");
  EXPECT_EQ(message({}), "folder: tensor 'a.weight' is missing, expected shape [4]");
}

// Returns a matrix [rows, columns] with value 10 * row + column.
Tensor numbered(Dim rows, Dim columns) {
  Tensor tensor = Tensor::allocate({rows, columns});
  for (Dim i = 0; i < tensor.elements(); ++i) {
    tensor.data<float>()[i] = static_cast<float>(10 * (i / columns) + i % columns);
  }
  return tensor;
}

std::vector<float> values(const Tensor& tensor) {
  return {tensor.data<float>(), tensor.data<float>() + tensor.elements()};
}

// Reads a tensor whose stored name and layout are given by `stored`.
Tensor read_stored(const std::shared_ptr<WeightStore>& store, const StoredName& stored, const Shape& shape) {
  return WeightScope(store, [&](const std::string&) { return std::vector{stored}; }).tensor("any", shape);
}

TEST(WeightScope, GivesAPartOfMergedProjections) {
  const auto store = std::make_shared<WeightStore>("folder");
  store->add("a", numbered(6, 3));
  StoredName stored("a");
  stored.part = 1;
  stored.parts = 3;
  EXPECT_THAT(values(read_stored(store, stored, {2, 3})), ElementsAre(20, 21, 22, 30, 31, 32));
  EXPECT_EQ(message_of<WeightError>([&] {
              read_stored(store, stored, {3, 3});
            }),
            "folder: tensor 'a': shape [6, 3], expected [9, 3]");
}

TEST(WeightScope, TransposesMatricesButNotVectors) {
  const auto store = std::make_shared<WeightStore>("folder");
  store->add("a", numbered(2, 6));
  store->add("b", numbered(1, 6).reshape({6}));
  StoredName stored("a");
  stored.transposed = true;
  EXPECT_THAT(values(read_stored(store, stored, {6, 2})), ElementsAre(0, 10, 1, 11, 2, 12, 3, 13, 4, 14, 5, 15));
  stored.part = 2;
  stored.parts = 3;
  EXPECT_THAT(values(read_stored(store, stored, {2, 2})), ElementsAre(4, 14, 5, 15));
  stored.name = "b";
  EXPECT_THAT(values(read_stored(store, stored, {2})), ElementsAre(4, 5));
}

TEST(WeightScope, DequantizesRowByRow) {
  const auto store = std::make_shared<WeightStore>("folder");
  std::array scales{127.0f, 32.0f, 1000.0f};
  const Tensor scale(scales.data(), DataType::float32, {3});
  store->add("a", tensor_of<std::int8_t>({2, 2}, DataType::int8, {127, -127, 64, 0}), scale.slice(0, 2));
  EXPECT_THAT(values(read_stored(store, {"a"}, {2, 2})), ElementsAre(1, -1, 2, 0));
  store->add("b", tensor_of<std::int16_t>({1, 2}, DataType::int16, {1000, -500}), scale.slice(2, 1));
  EXPECT_THAT(values(read_stored(store, {"b"}, {1, 2})), ElementsAre(1, -0.5));
}

TEST(WeightStore, RefusesScalesThatDoNotFit) {
  WeightStore store("folder");
  EXPECT_EQ(message_of<WeightError>([&] {
              store.add("a", Tensor::allocate({2, 2}, DataType::int8), Tensor::allocate({3}));
            }),
            "folder: scale of tensor 'a' has type float32 and shape [3], expected float32 [2] or [1]");
  EXPECT_EQ(message_of<WeightError>([&] {
              store.add("a", Tensor::allocate({2, 2}), Tensor::allocate({2}));
            }),
            "folder: tensor 'a' is stored as float32 with a scale, expected int8 or int16");
  EXPECT_TRUE(store.tensors().empty());
}

TEST(WeightScope, TheFirstStoredNameWins) {
  RandomTensors random(2);
  const auto store = std::make_shared<WeightStore>("folder");
  for (const char* name : {"second", "third"}) store->add(name, random.uniform({2, 3}));
  const WeightScope scope(store, [](const std::string&) {
    return std::vector<StoredName>{"first", "second", "third"};
  });
  EXPECT_TRUE(same_bits(scope.tensor("any", {2, 3}), *store->find("second")));
  EXPECT_THAT(scope.unused(), ElementsAre("third"));
}

TEST(WeightScope, WrongShapeSaysFoundAndExpected) {
  const WeightScope scope = make_scope({{"weight", Tensor::allocate({2, 3})}});
  for (const auto& [shape, text] :
       {std::pair{Shape{3, 2}, "[3, 2]"}, std::pair{Shape{6}, "[6]"}, std::pair{Shape{2, 3, 1}, "[2, 3, 1]"}}) {
    EXPECT_EQ(message_of<WeightError>([&, wrong = shape] { scope.tensor("weight", wrong); }),
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

TEST(WeightScope, TrailingOnesMayBeExtra) {
  Tensor convolution = Tensor::allocate({2, 3, 1, 1});
  for (int i = 0; i < 6; ++i) convolution.data<float>()[i] = static_cast<float>(i);
  const WeightScope scope = make_scope({{"weight", convolution}, {"column", Tensor::allocate({3, 1, 1})}});
  EXPECT_EQ(scope.tensor("weight", {2, 3}).shape(), Shape({2, 3}));
  float row[3];
  scope.matrix("weight", {2, 3}).copy_rows(1, 1, row);
  EXPECT_THAT(row, ElementsAre(3, 4, 5));
  EXPECT_EQ(scope.tensor("column", {3}).shape(), Shape({3}));
  EXPECT_EQ(scope.tensor("column", {3, 1}).shape(), Shape({3, 1}));
  EXPECT_EQ(message_of<WeightError>([&] {
              scope.tensor("weight", {3, 2});
            }),
            "test: tensor 'weight': shape [2, 3, 1, 1], expected [3, 2]");
  EXPECT_THROW(make_scope({{"w", Tensor::allocate({3, 1})}}).tensor("w", {1, 3}), WeightError);
  auto quantized = std::make_shared<WeightStore>("folder");
  quantized->add("w", Tensor::allocate({2, 3, 1}, DataType::int8), Tensor::allocate({6}));
  EXPECT_EQ(message_of<WeightError>([&] {
              WeightScope(quantized).matrix("w", {2, 3});
            }),
            "folder: tensor 'w': shape [2, 3, 1], expected [2, 3]");
}

TEST(WeightScope, RefusesStoredTypesThatAreNotWeights) {
  for (const DataType type : {DataType::float32, DataType::float16, DataType::bfloat16, DataType::float64}) {
    EXPECT_EQ(make_scope({{"w", Tensor::allocate({2}, type)}}).tensor("w", {2}).type(), DataType::float32);
  }
  EXPECT_EQ(message_of<WeightError>([] {
              make_scope({{"w", Tensor::allocate({2}, DataType::int8)}}).tensor("w", {2});
            }),
            "test: tensor 'w': stored as int8, expected float32, float16, bfloat16 or float64");
}

TEST(WeightScope, UnusedTensorsAreThoseThatWereNeverTaken) {
  const WeightScope root(store_of({"a.weight", "b.weight", "c.weight"}));
  EXPECT_THAT(root.unused(), ElementsAre("a.weight", "b.weight", "c.weight"));
  const WeightScope deeper = root / "b";
  deeper.tensor("weight", {2, 3});
  EXPECT_TRUE((root / "a").has("weight"));                        // only looked up, not taken
  EXPECT_THROW((root / "c").tensor("weight", {9}), WeightError);  // refused, so not taken
  EXPECT_THAT(root.unused(), ElementsAre("a.weight", "c.weight"));
  (root / "a").tensor("weight", {2, 3});
  (root / "c").tensor("weight", {2, 3});
  EXPECT_THAT(deeper.unused(), IsEmpty());
}

TEST(WeightScope, SeveralThreadsMayTakeTensorsConcurrently) {
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

// A file whose views have wrong bytes and whose read() returns the right bytes. Code that uses the bytes of a view
// directly gets wrong values.
class OtherBytes final : public WeightFile {
 public:
  explicit OtherBytes(std::vector<std::byte> bytes)
      : bytes_(std::move(bytes)), views_(bytes_.size(), std::byte{0xFF}) {}

  // Returns a view of the whole file.
  Tensor view(const Shape& shape, DataType type) { return {views_.data(), type, shape}; }
  bool read(std::span<const std::byte> bytes, std::byte* to) const override {
    if (bytes.data() < views_.data() || bytes.data() >= views_.data() + views_.size()) return false;
    std::memcpy(to, bytes_.data() + (bytes.data() - views_.data()), bytes.size());
    return true;
  }

 private:
  std::vector<std::byte> bytes_;
  std::vector<std::byte> views_;
};

TEST(WeightScope, TensorsOfFilesAreReadThroughTheFile) {
  constexpr Dim kRows = 40, kWidth = 1000;
  RandomTensors random(3);
  for (const DataType type : {DataType::float32, DataType::float16, DataType::bfloat16, DataType::int8}) {
    const bool is_int8 = type == DataType::int8;
    Tensor stored = is_int8 ? Tensor::allocate({kRows, kWidth}, type) : random.uniform({kRows, kWidth}, 1.0, type);
    for (Dim i = 0; is_int8 && i < stored.elements(); ++i) stored.raw()[i] = static_cast<std::byte>(i * 7);
    const auto file = std::make_shared<OtherBytes>(std::vector(stored.raw(), stored.raw() + stored.bytes()));
    const auto in_memory = std::make_shared<WeightStore>("memory"), of_file = std::make_shared<WeightStore>("file");
    of_file->add_file(file);
    if (is_int8) {
      const Tensor scale = random.uniform({kRows});
      in_memory->add("w", stored, scale);
      of_file->add("w", file->view(stored.shape(), type), scale);
    } else {
      in_memory->add("w", stored);
      of_file->add("w", file->view(stored.shape(), type));
    }
    for (const bool transposed : {false, true}) {
      for (const int parts : {1, 2}) {
        const auto names = [&](const std::string&) {
          StoredName name("w");
          name.part = parts - 1;
          name.parts = parts;
          name.transposed = transposed;
          return std::vector{name};
        };
        const Shape shape{(transposed ? kWidth : kRows) / parts, transposed ? kRows : kWidth};
        const WeightScope expected(in_memory, names), actual(of_file, names);
        const Tensor all = expected.tensor("w", shape);
        EXPECT_TRUE(same_bits(all, actual.tensor("w", shape)));
        Tensor some = Tensor::allocate({7, shape[1]});
        actual.matrix("w", shape).part(5, 10).copy_rows(2, 7, some.data<float>());
        EXPECT_TRUE(same_bits(all.slice(7, 7), some));
      }
    }
  }
}

}  // namespace
}  // namespace encdec
