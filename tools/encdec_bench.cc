// encdec-bench: how fast each layer is, and how fast it could be. Every benchmark runs one layer, or one stack, of the
// shape in its name as a graph of its own, and beside it, where the layer multiplies matrices, the bare packed oneDNN
// matmuls of the same shapes: the ceiling. FeedForward/B:1/T:32/D:512/F:2048 means one sequence of 32 rows.
//
//   encdec-bench --benchmark_filter=FeedForward --benchmark_min_time=0.1
//
// Both sides are measured by the clock on the wall, one after the other: on a busy machine, run it again.
// ENCDEC_BENCH_THREADS=N gives operations N threads (1 if not set).
#include <benchmark/benchmark.h>
#include <encdec/engine/executor.h>
#include <encdec/layers/add_norm.h>
#include <encdec/layers/cross_attention.h>
#include <encdec/layers/embedding.h>
#include <encdec/layers/feed_forward.h>
#include <encdec/layers/linear.h>
#include <encdec/layers/masked_decoder_attention.h>
#include <encdec/layers/multi_head_attention.h>
#include <encdec/layers/positional_encoding.h>
#include <encdec/models/session.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <map>

namespace encdec {
namespace {

int thread_count() {
  const char* text = std::getenv("ENCDEC_BENCH_THREADS");
  return text == nullptr ? 1 : std::max(1, std::atoi(text));
}

// Small pseudo-random values: speed does not depend on them, but denormal numbers would be slow.
Tensor noise(const Shape& shape) {
  Tensor tensor = Tensor::allocate(shape);
  std::uint32_t state = 1;
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    state = state * 1664525u + 1013904223u;
    tensor.data<float>()[i] = (static_cast<float>(state >> 8) / 0x1p24f - 0.5f) * 0.1f;
  }
  return tensor;
}

// A store that has every tensor that is asked for: `shape` of the request, filled with noise.
using WeightShapes = std::map<std::string, Shape>;
WeightScope random_weights(const WeightShapes& shapes) {
  auto store = std::make_shared<WeightStore>("random weights");
  for (const auto& [name, shape] : shapes) store->add(name, noise(shape));
  const auto names = [](const std::string& canonical) { return std::vector<StoredName>{canonical}; };
  return {std::move(store), names, {.threads = thread_count()}};
}

struct MatMulShape {
  std::int64_t rows;
  Dim input_width;
  Dim output_width;
};

// The largest rate at which bare packed matmuls of these shapes run one after the other, in operations per second.
double bare_matmul_rate(const std::vector<MatMulShape>& shapes) {
  Graph graph("bare");
  Edge input = graph.input("x", {kSourceRows, 1});
  graph.output(input);
  RunState state(graph, std::make_shared<ThreadTeam>(thread_count()));
  std::vector<MatMul> matmuls;
  std::vector<Tensor> inputs, outputs;
  double operations = 0;
  for (const auto& [rows, input_width, output_width] : shapes) {
    const WeightMatrix weight = noise({output_width, input_width});
    matmuls.emplace_back(std::span(&weight, 1), std::span<const Tensor>(), PackOptions{.threads = thread_count()});
    inputs.push_back(noise({rows, input_width}));
    outputs.push_back(noise({rows, output_width}));
    operations += 2.0 * static_cast<double>(rows * input_width * output_width);
  }
  using Clock = std::chrono::steady_clock;
  double best = 1e30;
  const auto end = Clock::now() + std::chrono::milliseconds(100);
  for (int i = 0; i < 3 || Clock::now() < end; ++i) {
    const auto start = Clock::now();
    for (std::size_t m = 0; m < matmuls.size(); ++m) matmuls[m].forward(inputs[m], nullptr, outputs[m], state);
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return operations / best;
}

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

  void run(benchmark::State& benchmark_state, double operations, const std::vector<MatMulShape>& matmuls) {
    for (auto _ : benchmark_state) benchmark::DoNotOptimize(executor.run(inputs, state).data());
    using benchmark::Counter;
    if (operations > 0) {
      benchmark_state.counters["GFLOP/s"] = Counter(operations * 1e-9, Counter::kIsIterationInvariantRate);
    }
    if (!matmuls.empty()) benchmark_state.counters["ceiling_GFLOP/s"] = bare_matmul_rate(matmuls) * 1e-9;
  }

  // For layers that only move data.
  void run_moving(benchmark::State& benchmark_state, double bytes) {
    for (auto _ : benchmark_state) benchmark::DoNotOptimize(executor.run(inputs, state).data());
    benchmark_state.counters["GB/s"] = benchmark::Counter(bytes * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
  }

  Executor executor;
  RunState state;
  std::vector<Tensor> inputs;
};

double matmul_operations(const std::vector<MatMulShape>& shapes) {
  double total = 0;
  for (const auto& [rows, in, out] : shapes) total += 2.0 * static_cast<double>(rows * in * out);
  return total;
}

// Scores and weighted values: two multiply-adds for each pair of query and key and each column.
double attention_operations(double queries, double keys, Dim model_dim) {
  return 4.0 * queries * keys * static_cast<double>(model_dim);
}

Tensor token_ids(std::int64_t count, Dim vocabulary) {
  Tensor ids = Tensor::allocate({count}, DataType::int32);
  for (std::int64_t i = 0; i < count; ++i)
    ids.data<std::int32_t>()[i] = static_cast<std::int32_t>(i * 7919 % vocabulary);
  return ids;
}

void add_projection(WeightShapes& shapes, const std::string& name, Dim out, Dim in) {
  shapes.emplace(name + ".weight", Shape{out, in});
  shapes.emplace(name + ".bias", Shape{out});
}

void add_norm(WeightShapes& shapes, const std::string& name, Dim width) {
  shapes.emplace(name + ".weight", Shape{width});
  shapes.emplace(name + ".bias", Shape{width});
}

void add_attention(WeightShapes& shapes, const std::string& name, Dim model_dim) {
  for (const char* part : {"query", "key", "value", "output"}) {
    add_projection(shapes, name + "." + part, model_dim, model_dim);
  }
}

void add_feed_forward(WeightShapes& shapes, const std::string& name, Dim model_dim, Dim hidden_dim) {
  add_projection(shapes, name + ".expand", hidden_dim, model_dim);
  add_projection(shapes, name + ".project", model_dim, hidden_dim);
}

// One layer between an input [S, D] and the output.
template <class L, class... Args>
Graph one_layer(const WeightScope& weights, std::vector<Shape> input_shapes, Args&&... args) {
  Graph graph("benchmark");
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < input_shapes.size(); ++i)
    edges.push_back(graph.input(fmt::format("input {}", i), input_shapes[i]));
  graph.output(graph.add<L>(weights, edges, std::forward<Args>(args)...));
  return graph;
}

void bench_linear(benchmark::State& state) {
  const std::int64_t rows = state.range(0);
  const Dim in = state.range(1), out = state.range(2);
  WeightShapes shapes;
  add_projection(shapes, "linear", out, in);
  Bench bench(one_layer<Linear>(random_weights(shapes) / "linear", {{kSourceRows, in}},
                                LinearOptions{.input_width = in, .output_width = out}),
              {noise({rows, in})});
  const std::vector<MatMulShape> matmuls = {{rows, in, out}};
  bench.run(state, matmul_operations(matmuls), matmuls);
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
  const std::vector<MatMulShape> matmuls = {{rows, model, hidden}, {rows, hidden, model}};
  bench.run(state, matmul_operations(matmuls), matmuls);
}

void bench_multi_head_attention(benchmark::State& state) {
  const int batch = static_cast<int>(state.range(0)), length = static_cast<int>(state.range(1));
  const Dim model = state.range(2);
  const std::int64_t rows = batch * length;
  WeightShapes shapes;
  add_attention(shapes, "self_attention", model);
  const AttentionOptions options{.model_dim = model, .heads = static_cast<int>(state.range(3))};
  Bench bench(one_layer<MultiHeadAttention>(random_weights(shapes) / "self_attention", {{kSourceRows, model}}, options),
              {noise({rows, model})});
  bench.set_sequences(batch, length);
  const std::vector<MatMulShape> matmuls = {{rows, model, 3 * model}, {rows, model, model}};
  bench.run(state, matmul_operations(matmuls) + batch * attention_operations(length, length, model), matmuls);
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
  const std::vector<MatMulShape> matmuls = {{batch, model, 3 * model}, {batch, model, model}};
  bench.run(state, matmul_operations(matmuls) + batch * attention_operations(1, length, model), matmuls);
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
  const std::vector<MatMulShape> matmuls = {{batch, model, model}, {batch, model, model}};
  bench.run(state, matmul_operations(matmuls) + batch * attention_operations(1, source, model), matmuls);
}

void bench_cross_attention_memory(benchmark::State& state) {
  const std::int64_t rows = state.range(0) * state.range(1);
  const Dim model = state.range(2);
  WeightShapes shapes;
  add_attention(shapes, "cross_attention", model);
  Bench bench(one_layer<CrossAttentionMemory>(random_weights(shapes) / "cross_attention", {{kSourceRows, model}},
                                              AttentionOptions{.model_dim = model, .heads = 8}),
              {noise({rows, model})});
  const std::vector<MatMulShape> matmuls = {{rows, model, 2 * model}};
  bench.run(state, matmul_operations(matmuls), matmuls);
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

void bench_positional_encoding(benchmark::State& state) {
  const int batch = static_cast<int>(state.range(0)), length = static_cast<int>(state.range(1));
  const Dim model = state.range(2);
  Graph graph("benchmark");
  const Edge x = graph.input("x", {kSourceRows, model});
  graph.output(graph.add("positions", std::make_shared<PositionalEncoding>(SinusoidLayout::halves, model), {x}));
  Bench bench(std::move(graph), {noise({batch * length, model})});
  bench.set_sequences(batch, length);
  bench.run_moving(state, 3.0 * static_cast<double>(batch * length * model) * sizeof(float));
}

// A whole Transformer with random weights.
std::shared_ptr<const Transformer> random_transformer(Dim model_dim, Dim hidden_dim, int layers, Dim vocabulary) {
  TransformerConfig config;
  config.model_dim = model_dim;
  config.encoder = {
      .vocabulary = vocabulary, .layers = layers, .heads = static_cast<int>(model_dim / 64), .hidden_dim = hidden_dim};
  config.decoder = config.encoder;
  WeightShapes shapes{{"embedding.weight", {vocabulary, model_dim}}};
  for (const std::string stack : {"encoder", "decoder"}) {
    for (int layer = 0; layer < layers; ++layer) {
      const std::string prefix = fmt::format("{}.{}.", stack, layer);
      std::vector<std::string> attentions{"self_attention"};
      if (stack == "decoder") attentions.push_back("cross_attention");
      for (const std::string& attention : attentions) {
        add_attention(shapes, prefix + attention, model_dim);
        add_norm(shapes, prefix + attention + "_norm", model_dim);
      }
      add_feed_forward(shapes, prefix + "feed_forward", model_dim, hidden_dim);
      add_norm(shapes, prefix + "feed_forward_norm", model_dim);
    }
  }
  auto store = std::make_shared<WeightStore>("random weights");
  for (const auto& [name, shape] : shapes) store->add(name, noise(shape));
  const auto names = [](const std::string& canonical) {
    const bool table = canonical.ends_with("embedding.weight") || canonical == "output_projection.weight";
    return std::vector<StoredName>{table ? "embedding.weight" : canonical};
  };
  return std::make_shared<const Transformer>(config, WeightScope(store, names, {.threads = thread_count()}));
}

std::vector<MatMulShape> layer_matmuls(std::int64_t rows, Dim model, Dim hidden, int layers) {
  std::vector<MatMulShape> shapes;
  for (int layer = 0; layer < layers; ++layer) {
    shapes.insert(shapes.end(),
                  {{rows, model, 3 * model}, {rows, model, model}, {rows, model, hidden}, {rows, hidden, model}});
  }
  return shapes;
}

void count_transformer(benchmark::State& state, const std::vector<MatMulShape>& matmuls, double attention) {
  state.counters["GFLOP/s"] = benchmark::Counter((matmul_operations(matmuls) + attention) * 1e-9,
                                                 benchmark::Counter::kIsIterationInvariantRate);
  state.counters["ceiling_GFLOP/s"] = bare_matmul_rate(matmuls) * 1e-9;
}

constexpr int kLayers = 6;
constexpr Dim kVocabulary = 32000;

// The encoder with the memories of the cross-attention.
void bench_encoder(benchmark::State& state) {
  const int batch = static_cast<int>(state.range(0)), length = static_cast<int>(state.range(1));
  const Dim model = state.range(2), hidden = state.range(3);
  Session session(random_transformer(model, hidden, kLayers, kVocabulary),
                  std::make_shared<ThreadTeam>(thread_count()));
  const std::vector<TokenIds> sources(static_cast<std::size_t>(batch), TokenIds(static_cast<std::size_t>(length), 5));
  for (auto _ : state) {
    session.reset();
    benchmark::DoNotOptimize(session.encode(sources).hidden.raw());
  }
  auto matmuls = layer_matmuls(batch * length, model, hidden, kLayers);
  for (int layer = 0; layer < kLayers; ++layer) matmuls.push_back({batch * length, model, 2 * model});
  count_transformer(state, matmuls, kLayers * batch * attention_operations(length, length, model));
}

// One decoding step, logits included, at position T with sources of 32 tokens.
void bench_decoder_step(benchmark::State& state) {
  const int batch = static_cast<int>(state.range(0)), length = static_cast<int>(state.range(1));
  const Dim model = state.range(2), hidden = state.range(3);
  constexpr int kSourceLength = 32;
  Session session(random_transformer(model, hidden, kLayers, kVocabulary),
                  std::make_shared<ThreadTeam>(thread_count()));
  const std::vector<TokenIds> sources(static_cast<std::size_t>(batch), TokenIds(kSourceLength, 5));
  const TokenIds past(static_cast<std::size_t>(length - 1), 5);
  const std::int32_t token = 7;
  std::vector<Session::TargetTokens> step;
  for (auto _ : state) {
    state.PauseTiming();  // the same position again
    session.reset();
    step.clear();
    for (const int source : session.encode(sources).sources) step.push_back({session.open_target(source), past});
    if (!past.empty()) session.decode(step);
    for (auto& input : step) input.tokens = std::span(&token, 1);
    state.ResumeTiming();
    benchmark::DoNotOptimize(session.decode(step).raw());
  }
  auto matmuls = layer_matmuls(batch, model, hidden, kLayers);
  for (int layer = 0; layer < kLayers; ++layer) matmuls.insert(matmuls.end(), 2, {batch, model, model});
  matmuls.push_back({batch, model, kVocabulary});
  count_transformer(state, matmuls, kLayers * batch * attention_operations(1, length + kSourceLength, model));
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
BENCHMARK(bench_multi_head_attention)
    ->Name("MultiHeadAttention")
    ->UseRealTime()
    ->ArgNames({"B", "T", "D", "H"})
    ->Args({1, 32, 512, 8})
    ->Args({1, 512, 512, 8})
    ->Args({32, 32, 512, 8})
    ->Args({8, 128, 512, 8})
    ->Args({1, 32, 1024, 16});
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
BENCHMARK(bench_positional_encoding)
    ->Name("PositionalEncoding")
    ->UseRealTime()
    ->ArgNames({"B", "T", "D"})
    ->Args({1, 32, 512})
    ->Args({32, 32, 512});
BENCHMARK(bench_encoder)
    ->Name("Encoder")
    ->UseRealTime()
    ->ArgNames({"B", "T", "D", "F"})
    ->Unit(benchmark::kMillisecond)
    ->Args({1, 32, 512, 2048})
    ->Args({1, 512, 512, 2048})
    ->Args({32, 32, 512, 2048})
    ->Args({8, 128, 512, 2048});
BENCHMARK(bench_decoder_step)
    ->Name("DecoderStep")
    ->UseRealTime()
    ->ArgNames({"B", "T", "D", "F"})
    ->Unit(benchmark::kMillisecond)
    ->Args({1, 32, 512, 2048})
    ->Args({8, 32, 512, 2048})
    ->Args({32, 32, 512, 2048});

}  // namespace
}  // namespace encdec

BENCHMARK_MAIN();
