// Single layers.
#include <encdec/layers/add_norm.h>
#include <encdec/layers/cross_attention.h>
#include <encdec/layers/embedding.h>
#include <encdec/layers/feed_forward.h>
#include <encdec/layers/linear.h>
#include <encdec/layers/masked_decoder_attention.h>
#include <encdec/layers/multi_head_attention.h>
#include <encdec/layers/positional_encoding.h>
#include <encdec/layers/timestep_encoding.h>

#include <cmath>
#include <utility>

#include "bench_layer.h"

namespace encdec::bench {
namespace {

void bench_linear(benchmark::State& state) {
  const std::int64_t rows = state.range(0);
  const Dim in = state.range(1), out = state.range(2);
  WeightShapes shapes;
  add_projection(shapes, "linear", out, in);
  Bench bench(one_layer<Linear>(random_weights(shapes) / "linear", {{kSourceRows, in}},
                                LinearOptions{.input_width = in, .output_width = out}),
              {noise({rows, in})});
  bench.run(state, {.matmuls = {{rows, in, out}}});
}

void bench_feed_forward(benchmark::State& state) {
  const std::int64_t rows = state.range(0) * state.range(1);
  const Dim model = state.range(2), hidden = state.range(3);
  WeightShapes shapes;
  add_feed_forward(shapes, "feed_forward", model, hidden);
  Bench bench(one_layer<FeedForward>(
                  random_weights(shapes) / "feed_forward", {{kSourceRows, model}},
                  FeedForwardOptions{.model_dim = model, .hidden_dim = hidden, .activation = Activation::relu}),
              {noise({rows, model})});
  bench.run(state, {.matmuls = {{rows, model, hidden}, {rows, hidden, model}}});
}

void bench_self_attention(benchmark::State& state, const RelativePositions& relative_positions) {
  const int batch = static_cast<int>(state.range(0)), length = static_cast<int>(state.range(1));
  const Dim model = state.range(2);
  const std::int64_t rows = batch * length;
  const AttentionOptions options{
      .model_dim = model, .heads = static_cast<int>(state.range(3)), .relative_positions = relative_positions};
  WeightShapes shapes;
  add_attention(shapes, "self_attention", model);
  shapes["self_attention.relative_position_bias.weight"] = {relative_positions.buckets, options.heads};
  Bench bench(one_layer<MultiHeadAttention>(random_weights(shapes) / "self_attention", {{kSourceRows, model}}, options),
              {noise({rows, model})});
  bench.set_sequences(batch, length);
  bench.run(state, {.matmuls = {{rows, model, 3 * model}, {rows, model, model}},
                    .attention_operations = batch * attention_operations(length, length, model)});
}

void bench_multi_head_attention(benchmark::State& state) {
  bench_self_attention(state, {});
}

// As T5's.
void bench_relative_attention(benchmark::State& state) {
  bench_self_attention(state, {.buckets = 32, .max_distance = 128});
}

// One decoding step: a row for each sequence, after T - 1 positions.
void bench_masked_decoder_attention(benchmark::State& state) {
  const int batch = static_cast<int>(state.range(0)), length = static_cast<int>(state.range(1));
  const Dim model = state.range(2);
  WeightShapes shapes;
  add_attention(shapes, "self_attention", model);
  const AttentionOptions options{.model_dim = model, .heads = static_cast<int>(state.range(3))};
  Bench bench(
      one_layer<MaskedDecoderAttention>(random_weights(shapes) / "self_attention", {{kSourceRows, model}}, options),
      {noise({batch, model})});
  bench.set_sequences(batch, 1, length - 1);
  bench.run(state, {.matmuls = {{batch, model, 3 * model}, {batch, model, model}},
                    .attention_operations = batch * attention_operations(1, length, model)});
}

// One decoding step over sources of S tokens.
void bench_cross_attention(benchmark::State& state) {
  const int batch = static_cast<int>(state.range(0)), source = static_cast<int>(state.range(1));
  const Dim model = state.range(2);
  WeightShapes shapes;
  add_attention(shapes, "cross_attention", model);
  const AttentionOptions options{.model_dim = model, .heads = static_cast<int>(state.range(3))};
  Bench bench(one_layer<CrossAttention>(random_weights(shapes) / "cross_attention",
                                        {{kTargetRows, model}, {kSourceRows, 2 * model}}, options),
              {noise({batch, model}), noise({batch * source, 2 * model})});
  bench.set_sequences(batch, 1, 0, source);
  bench.run(state, {.matmuls = {{batch, model, model}, {batch, model, model}},
                    .attention_operations = batch * attention_operations(1, source, model)});
}

void bench_cross_attention_memory(benchmark::State& state) {
  const std::int64_t rows = state.range(0) * state.range(1);
  const Dim model = state.range(2);
  WeightShapes shapes;
  add_attention(shapes, "cross_attention", model);
  Bench bench(one_layer<CrossAttentionMemory>(random_weights(shapes) / "cross_attention", {{kSourceRows, model}},
                                              AttentionOptions{.model_dim = model, .heads = 8}),
              {noise({rows, model})});
  bench.run(state, {.matmuls = {{rows, model, 2 * model}}});
}

void bench_add_norm(benchmark::State& state) {
  const std::int64_t rows = state.range(0) * state.range(1);
  const Dim model = state.range(2);
  WeightShapes shapes;
  add_norm(shapes, "norm", model);
  Bench bench(one_layer<AddNorm>(random_weights(shapes) / "norm", {{kSourceRows, model}, {kSourceRows, model}},
                                 NormOptions{.width = model}),
              {noise({rows, model}), noise({rows, model})});
  bench.run_moving(state, 3.0 * static_cast<double>(rows * model) * sizeof(float));
}

void bench_embedding(benchmark::State& state) {
  const std::int64_t rows = state.range(0) * state.range(1);
  const Dim model = state.range(2), vocabulary = state.range(3);
  const WeightScope weights = random_weights({{"embedding.weight", {vocabulary, model}}});
  Graph graph("benchmark");
  const Edge ids = graph.input("ids", {kSourceRows}, DataType::int32);
  graph.output(graph.add<Embedding>(
      weights / "embedding", {ids},
      EmbeddingOptions{.vocabulary = vocabulary, .model_dim = model, .scale = std::sqrt(static_cast<float>(model))}));
  Bench bench(std::move(graph), {token_ids(rows, vocabulary)});
  bench.run_moving(state, 2.0 * static_cast<double>(rows * model) * sizeof(float));
}

void bench_positions(benchmark::State& state, std::shared_ptr<const Layer> layer) {
  const int batch = static_cast<int>(state.range(0)), length = static_cast<int>(state.range(1));
  const Dim model = state.range(2);
  Graph graph("benchmark");
  const Edge x = graph.input("x", {kSourceRows, model});
  graph.output(graph.add("positions", std::move(layer), {x}));
  Bench bench(std::move(graph), {noise({batch * length, model})});
  bench.set_sequences(batch, length);
  bench.run_moving(state, 3.0 * static_cast<double>(batch * length * model) * sizeof(float));
}

void bench_positional_encoding(benchmark::State& state) {
  bench_positions(state, std::make_shared<PositionalEncoding>(SinusoidLayout::halves, state.range(2)));
}

void bench_learned_positions(benchmark::State& state) {
  const PositionOptions options{
      .kind = PositionOptions::Kind::learned, .model_dim = state.range(2), .positions = state.range(1)};
  bench_positions(state, std::make_shared<PositionalEncoding>(
                             random_weights({{"weight", {options.positions, options.model_dim}}}), options));
}

void bench_timestep_encoding(benchmark::State& state) {
  const std::int64_t rows = state.range(0) * state.range(1);
  const Dim model = state.range(2);
  Graph graph("benchmark");
  const Edge x = graph.input("x", {kSourceRows, model}), step = graph.input("step", {1}, DataType::int32);
  graph.output(graph.add("steps", std::make_shared<TimestepEncoding>(SinusoidLayout::halves, model), {x, step}));
  Bench bench(std::move(graph), {noise({rows, model}), token_ids(1, 6)});
  bench.run_moving(state, 2.0 * static_cast<double>(rows * model) * sizeof(float));
}

void attention_sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->UseRealTime()
      ->ArgNames({"B", "T", "D", "H"})
      ->Args({1, 32, 512, 8})
      ->Args({1, 512, 512, 8})
      ->Args({32, 32, 512, 8})
      ->Args({8, 128, 512, 8})
      ->Args({1, 32, 1024, 16});
}

void position_sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->UseRealTime()->ArgNames({"B", "T", "D"})->Args({1, 32, 512})->Args({32, 32, 512});
}

BENCHMARK(bench_linear)
    ->Name("Linear")
    ->UseRealTime()
    ->ArgNames({"T", "K", "N"})
    ->ArgsProduct({{1, 8, 32, 512}, {512}, {512, 32000}});
BENCHMARK(bench_feed_forward)
    ->Name("FeedForward")
    ->UseRealTime()
    ->ArgNames({"B", "T", "D", "F"})
    ->Args({1, 1, 512, 2048})
    ->Args({1, 32, 512, 2048})
    ->Args({32, 1, 512, 2048})
    ->Args({8, 128, 512, 2048})
    ->Args({1, 32, 1024, 4096});
BENCHMARK(bench_multi_head_attention)->Name("MultiHeadAttention")->Apply(attention_sizes);
BENCHMARK(bench_relative_attention)->Name("MultiHeadAttention/relative_positions")->Apply(attention_sizes);
BENCHMARK(bench_masked_decoder_attention)
    ->Name("MaskedDecoderAttention")
    ->UseRealTime()
    ->ArgNames({"B", "T", "D", "H"})
    ->Args({1, 1, 512, 8})
    ->Args({1, 64, 512, 8})
    ->Args({32, 64, 512, 8})
    ->Args({1, 512, 512, 8})
    ->Args({1, 64, 1024, 16});
BENCHMARK(bench_cross_attention)
    ->Name("CrossAttention")
    ->UseRealTime()
    ->ArgNames({"B", "S", "D", "H"})
    ->Args({1, 32, 512, 8})
    ->Args({32, 32, 512, 8})
    ->Args({1, 512, 512, 8});
BENCHMARK(bench_cross_attention_memory)
    ->Name("CrossAttentionMemory")
    ->UseRealTime()
    ->ArgNames({"B", "S", "D"})
    ->Args({1, 32, 512})
    ->Args({32, 32, 512});
BENCHMARK(bench_add_norm)
    ->Name("AddNorm")
    ->UseRealTime()
    ->ArgNames({"B", "T", "D"})
    ->Args({1, 1, 512})
    ->Args({1, 32, 512})
    ->Args({32, 32, 512})
    ->Args({1, 32, 1024});
BENCHMARK(bench_embedding)
    ->Name("Embedding")
    ->UseRealTime()
    ->ArgNames({"B", "T", "D", "V"})
    ->Args({1, 32, 512, 32000})
    ->Args({32, 32, 512, 32000});
BENCHMARK(bench_positional_encoding)->Name("PositionalEncoding")->Apply(position_sizes);
BENCHMARK(bench_learned_positions)->Name("PositionalEncoding/learned")->Apply(position_sizes);
BENCHMARK(bench_timestep_encoding)->Name("TimestepEncoding")->Apply(position_sizes);

}  // namespace
}  // namespace encdec::bench
