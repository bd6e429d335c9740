#include "encdec/models/session/source_key_values.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "tests/support/random_tensors.h"

namespace encdec {
namespace {

TEST(SourceKeyValues, EachSourceKeepsItsRowsWhileOthersAreAddedAndRemoved) {
  constexpr int kLayers = 2;
  RandomTensors random(1);
  constexpr Dim kMemoryWidth = 12;
  SourceKeyValues memory;
  std::map<int, std::vector<Tensor>> expected;  // key: source; one tensor a layer
  for (int step = 0; step < 2000; ++step) {
    if (expected.size() < 12 && random.below(2) == 0) {
      const int before = random.below(4), count = random.below(40) + 1;
      std::vector<Tensor> encoded;
      for (int layer = 0; layer < kLayers; ++layer) {
        encoded.push_back(random.uniform({before + count + 3, kMemoryWidth}));
      }
      const int source = memory.add(encoded, before, count);
      std::vector<Tensor> rows;
      for (const Tensor& layer : encoded) {
        rows.push_back(layer.slice(before, count));
      }
      ASSERT_TRUE(expected.emplace(source, std::move(rows)).second) << "an open source's number was given out again";
    } else if (!expected.empty()) {
      const auto chosen = std::next(expected.begin(), random.below(static_cast<int>(expected.size())));
      memory.remove(chosen->first);
      expected.erase(chosen);
    }
    for (const auto& [source, layers] : expected) {
      const SourceKeyValues::Rows rows = memory.rows(source);
      for (std::size_t layer = 0; layer < layers.size(); ++layer) {
        const Tensor found = memory.tensors()[layer].slice(rows.first, rows.count);
        ASSERT_EQ(found.shape(), layers[layer].shape());
        ASSERT_EQ(std::memcmp(found.raw(), layers[layer].raw(), found.bytes()), 0);
      }
    }
  }
  EXPECT_LE(memory.tensors().front().rows(), 2 * 12 * 40) << "gaps are not used again";
}

}  // namespace
}  // namespace encdec
