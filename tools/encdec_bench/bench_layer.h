#pragma once

#include <encdec/engine/executor.h>
#include <fmt/format.h>

#include <memory>
#include <utility>
#include <vector>

#include "workload.h"

namespace encdec::bench {

// A graph with a state, run again and again under the benchmark's clock.
struct Bench {
  Bench(Graph graph, std::vector<Tensor> inputs_)
      : executor(std::move(graph)),
        state(executor.graph(), std::make_shared<ThreadTeam>(thread_count())),
        inputs(std::move(inputs_)) {}

  // Sequences of equal length that fill the packed rows.
  void set_sequences(int batch, int rows, int past = 0, int memory_rows = 0) {
    for (int b = 0; b < batch; ++b) {
      const int slot = state.cache_index.open();
      state.cache_index.append(slot, past + rows);
      state.sequences.push_back({.first_row = b * rows,
                                 .rows = rows,
                                 .past = past,
                                 .slot = slot,
                                 .memory_first = b * memory_rows,
                                 .memory_rows = memory_rows});
    }
  }

  void run(benchmark::State& benchmark_state, const Work& work) {
    for (auto _ : benchmark_state) benchmark::DoNotOptimize(executor.run(inputs, state).data());
    count(benchmark_state, work);
  }

  // For layers that only move data.
  void run_moving(benchmark::State& benchmark_state, double bytes) {
    for (auto _ : benchmark_state) benchmark::DoNotOptimize(executor.run(inputs, state).data());
    count_bytes(benchmark_state, bytes);
  }

  Executor executor;
  RunState state;
  std::vector<Tensor> inputs;
};

// One layer between inputs of these shapes and the output.
template <class L, class... Args>
Graph one_layer(const WeightScope& weights, std::vector<Shape> input_shapes, Args&&... args) {
  Graph graph("benchmark");
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < input_shapes.size(); ++i)
    edges.push_back(graph.input(fmt::format("input {}", i), input_shapes[i]));
  graph.output(graph.add<L>(weights, edges, std::forward<Args>(args)...));
  return graph;
}

}  // namespace encdec::bench
