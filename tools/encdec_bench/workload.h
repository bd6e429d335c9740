#pragma once

#include <benchmark/benchmark.h>
#include <encdec/engine/executor.h>
#include <encdec/engine/matmul.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace encdec::bench {

// ENCDEC_BENCH_THREADS, of one operation; 1 if not set.
int thread_count();
// ENCDEC_BENCH_PRECISION, of matmuls; float32 if not set.
Precision precision();

// Small pseudo-random values: speed does not depend on them, but denormal numbers would be slow.
Tensor noise(const Shape& shape);
// int32 [count] of all over a vocabulary.
Tensor token_ids(std::int64_t count, Dim vocabulary);

// Tensors of these names and shapes, filled with noise.
using WeightShapes = std::map<std::string, Shape>;
std::shared_ptr<const WeightStore> random_store(const WeightShapes& shapes);
// Under their own names.
WeightScope random_weights(const WeightShapes& shapes);

// What layers need, under `name`.
void add_projection(WeightShapes& shapes, const std::string& name, Dim out, Dim in);
void add_norm(WeightShapes& shapes, const std::string& name, Dim width);
void add_attention(WeightShapes& shapes, const std::string& name, Dim model_dim);
void add_feed_forward(WeightShapes& shapes, const std::string& name, Dim model_dim, Dim hidden_dim);

struct MatMulShape {
  std::int64_t rows;
  Dim input_width;
  Dim output_width;
};

// The arithmetic of one iteration: matmuls with weights, and what attention adds to them.
struct Work {
  std::vector<MatMulShape> matmuls;
  double attention_operations = 0;

  double operations() const;
  double weight_bytes() const;  // in the precision of the benchmarks, each weight once
};

// Scores and weighted values: two multiply-adds for each pair of query and key and each column.
double attention_operations(double queries, double keys, Dim model_dim);

// Counters of a benchmark that does `work` in each iteration: operations per second, their share of the CPU's peak, and
// those of the bare packed matmuls of the same shapes one after the other. Where reading the weights from memory takes
// longer than computing at the peak, also the share of the memory's bandwidth that reading them once takes.
void count(benchmark::State& state, const Work& work);
// The same for what only moves data.
void count_bytes(benchmark::State& state, double bytes);

}  // namespace encdec::bench
