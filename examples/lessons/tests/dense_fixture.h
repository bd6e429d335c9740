#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "dense_reference.h"
#include "golden_layer.h"
#include "tests/support/allocation_watch.h"
#include "tests/support/comparison.h"
#include "tests/support/layer_runner.h"
#include "tests/support/random_tensors.h"

namespace lessons {
using namespace encdec;

struct DenseSizes {
  Dim batch, queries, keys, query_dim, key_dim, value_dim;
};

// Sizes of 1, primes, odd sizes, whole tiles and vectors, and one key more or one less than those.
inline constexpr std::array kDenseSizes = {
    DenseSizes{1, 1, 1, 1, 1, 1},    DenseSizes{2, 3, 5, 7, 7, 4},     DenseSizes{3, 2, 19, 13, 13, 11},
    DenseSizes{1, 4, 4, 16, 16, 16}, DenseSizes{2, 9, 17, 33, 33, 67}, DenseSizes{1, 8, 64, 64, 64, 64},
    DenseSizes{5, 1, 3, 2, 2, 131},
};

inline Tensor int32s(const Shape& shape, std::vector<std::int32_t> values) {
  Tensor tensor = Tensor::allocate(shape, DataType::int32);
  std::ranges::copy(values, tensor.data<std::int32_t>());
  return tensor;
}
inline Tensor floats(const Shape& shape, std::vector<float> values) {
  Tensor tensor = Tensor::allocate(shape);
  std::ranges::copy(values, tensor.data<float>());
  return tensor;
}

// Returns lengths that mask no keys, some keys and all keys, and lengths out of range.
inline Tensor some_lengths(const Shape& shape, Dim keys) {
  Tensor lengths = Tensor::allocate(shape, DataType::int32);
  const std::array<Dim, 6> choices = {keys, 0, keys / 2, 1, keys + 3, -1};
  for (std::int64_t i = 0; i < lengths.elements(); ++i) {
    lengths.data<std::int32_t>()[i] = static_cast<std::int32_t>(choices[static_cast<std::size_t>(i) % choices.size()]);
  }
  return lengths;
}

// Returns member `b` of a dense batch: [R, D] of [B, R, D].
inline Tensor member(const Tensor& batch, Dim b) {
  return batch.slice(b, 1).reshape({batch.shape()[1], batch.shape()[2]});
}

// Returns the length of each query of member `b`. `lengths` has one per member or one per query; without it, all
// lengths are `keys`.
inline std::vector<std::int32_t> lengths_of_rows(const std::optional<Tensor>& lengths, Dim b, Dim queries, Dim keys) {
  std::vector<std::int32_t> all;
  for (Dim q = 0; q < queries; ++q) {
    if (!lengths) {
      all.push_back(static_cast<std::int32_t>(keys));
    } else {
      all.push_back(lengths->data<std::int32_t>()[lengths->shape().rank() == 1 ? b : b * queries + q]);
    }
  }
  return all;
}

// Returns `of_member(b)` of every member `b`, stacked by rows.
template <class OfMember>
reference::Matrix for_each_member(Dim batch, const OfMember& of_member) {
  std::vector<reference::Matrix> parts;
  for (Dim b = 0; b < batch; ++b) parts.push_back(of_member(b));
  return reference::stack(parts);
}

// A graph of one layer with the given inputs and its own threads.
class DenseRunner {
 public:
  DenseRunner(std::shared_ptr<const Layer> layer, std::vector<Tensor> inputs, int threads = 1)
      : inputs_(std::move(inputs)),
        executor_(graph_of(std::move(layer), inputs_)),
        state_(executor_.graph(), std::make_shared<ThreadTeam>(threads)) {}

  Tensor run() { return copy_of(executor_.run(inputs_, state_).front()); }

  // Returns the number of allocations of a run after the first.
  int allocations() {
    run();
    const AllocationWatch watch;
    executor_.run(inputs_, state_);
    return watch.count();
  }

  // Returns the observed weights of each row, stacked by rows.
  Tensor observed_weights() {
    std::vector<float> all;
    Dim rows = 0;
    state_.observe_attention(executor_.graph().find("layer"), [&](const AttentionWeights& attention) {
      EXPECT_EQ(attention.row, rows++);
      EXPECT_EQ(attention.head, 0);
      all.insert(all.end(), attention.weights.begin(), attention.weights.end());
    });
    run();
    return floats({rows, static_cast<Dim>(all.size()) / rows}, all);
  }

 private:
  static Graph graph_of(std::shared_ptr<const Layer> layer, const std::vector<Tensor>& inputs) {
    Graph graph("test");
    std::vector<Edge> edges;
    for (const Tensor& input : inputs) {
      edges.push_back(graph.input("input " + std::to_string(edges.size()), input.shape(), input.type()));
    }
    graph.output(graph.add("layer", std::move(layer), edges));
    return graph;
  }

  std::vector<Tensor> inputs_;
  Executor executor_;
  RunState state_;
};

inline Tensor run_dense(std::shared_ptr<const Layer> layer, std::vector<Tensor> inputs, int threads = 1) {
  return DenseRunner(std::move(layer), std::move(inputs), threads).run();
}

// Expects that the bits of a row do not depend on the number of threads, on the rest of the batch, or on other queries.
// The inputs are [B, ...]; the first input is the queries, and a [B, Q] input has one number per query.
inline void expect_rows_are_independent(const std::shared_ptr<const Layer>& layer, const std::vector<Tensor>& inputs) {
  const Tensor all = run_dense(layer, inputs, 1);
  EXPECT_TRUE(same_bits(all, run_dense(layer, inputs, 3)));
  const Dim queries = inputs[0].shape()[1];
  for (Dim b = 0; b < inputs[0].shape()[0]; ++b) {
    std::vector<Tensor> alone, flat;
    for (const Tensor& input : inputs) {
      alone.push_back(input.slice(b, 1));
      const Shape& shape = input.shape();
      flat.push_back(shape.rank() == 3   ? member(input, b)
                     : shape.rank() == 2 ? alone.back().reshape({shape[1]})
                                         : int32s({queries}, lengths_of_rows(input, b, queries, 0)));
    }
    const Tensor expected = all.slice(b, 1);
    EXPECT_TRUE(same_bits(expected, run_dense(layer, alone)));
    for (Dim q = 0; q < queries; ++q) {
      std::vector<Tensor> of_query = flat;
      for (Tensor& input : of_query) {
        if (&input == &of_query[0] || input.shape().rank() == 1) input = input.slice(q, 1);
      }
      EXPECT_TRUE(same_bits(member(all, b).slice(q, 1), run_dense(layer, of_query)));
    }
  }
}

// Compares with a golden value, which is a float64 rounded to float32: the bounds are the reference's plus half a unit
// in the last place.
inline testing::AssertionResult golden_is_within(reference::Matrix expected, const Tensor& golden) {
  for (std::size_t i = 0; i < expected.errors.size(); ++i) {
    expected.errors[i] += std::abs(expected.values[i]) * 0x1p-24 + 0x1p-149;
  }
  return is_close_to(expected, golden);
}

}  // namespace lessons
