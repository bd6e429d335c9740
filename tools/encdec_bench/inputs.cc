// Inputs made explicit, and blocks that are applied again and again.
#include <encdec/layers/concatenated_positions.h>
#include <encdec/layers/one_hot.h>
#include <encdec/models/universal_session.h>

#include "bench_layer.h"

namespace encdec::bench {
namespace {

// What an Embedding looks up, computed.
void bench_one_hot(benchmark::State& state) {
  const std::int64_t rows = state.range(0);
  const Dim model = state.range(1), vocabulary = state.range(2);
  const WeightScope weights = random_weights({{"table.weight", {model, vocabulary}}});
  Graph graph("benchmark");
  const Edge ids = graph.input("ids", {kSourceRows}, DataType::int32);
  const Edge tokens = graph.add("one_hot", std::make_shared<OneHot>(vocabulary), {ids});
  graph.output(graph.add<Linear>(weights / "table", {tokens},
                                 LinearOptions{.input_width = vocabulary, .output_width = model, .bias = Bias::none}));
  Bench bench(std::move(graph), {token_ids(rows, vocabulary)});
  bench.run(state, {.matmuls = {{rows, vocabulary, model}}});
}

void bench_concatenated_positions(benchmark::State& state) {
  const int batch = static_cast<int>(state.range(0)), length = static_cast<int>(state.range(1));
  const Dim model = state.range(2);
  const std::int64_t rows = batch * length;
  WeightShapes shapes;
  add_projection(shapes, "positions", model, 2 * model);
  const ConcatenatedPositionOptions options{
      .input_width = model, .output_width = model, .positions = {.model_dim = model}};
  Bench bench(one_layer<ConcatenatedPositions>(random_weights(shapes) / "positions", {{kSourceRows, model}}, options),
              {noise({rows, model})});
  bench.set_sequences(batch, length);
  bench.run(state, {.matmuls = {{rows, 2 * model, model}}});
}

constexpr Dim kVocabulary = 1000;

std::shared_ptr<const UniversalTransformer> random_universal_transformer(Dim model, Dim hidden, int steps) {
  UniversalTransformerConfig config;
  config.model_dim = model;
  config.heads = static_cast<int>(model / 64);
  config.hidden_dim = hidden;
  config.encoder = config.decoder = {.vocabulary = kVocabulary, .steps = steps};
  WeightShapes shapes{{"encoder.embedding.weight", {kVocabulary, model}},
                      {"decoder.embedding.weight", {kVocabulary, model}}};
  add_attention(shapes, "decoder.cross_attention", model);
  add_norm(shapes, "decoder.cross_attention_norm", model);
  for (const std::string stack : {"encoder", "decoder"}) {
    add_attention(shapes, stack + ".self_attention", model);
    add_norm(shapes, stack + ".self_attention_norm", model);
    add_feed_forward(shapes, stack + ".transition", model, hidden);
    add_norm(shapes, stack + ".transition_norm", model);
  }
  add_projection(shapes, "output_projection", kVocabulary, model);
  return std::make_shared<const UniversalTransformer>(config, random_weights(shapes));
}

// The encoder of 6 steps, or its embedding and one.
void bench_universal_encoder(benchmark::State& state) {
  const int batch = static_cast<int>(state.range(0)), length = static_cast<int>(state.range(1));
  const Dim model = state.range(2), hidden = state.range(3);
  const int steps = static_cast<int>(state.range(4));
  UniversalSession session(random_universal_transformer(model, hidden, steps),
                           std::make_shared<ThreadTeam>(thread_count()));
  const std::vector<UniversalSession::TokenIds> sources(
      static_cast<std::size_t>(batch), UniversalSession::TokenIds(static_cast<std::size_t>(length), 5));
  for (auto _ : state) benchmark::DoNotOptimize(session.encode(sources));
  const std::int64_t rows = batch * length;
  Work work{.matmuls = {{rows, model, 2 * model}},  // what the decoder will read
            .attention_operations = steps * batch * attention_operations(length, length, model)};
  for (int step = 0; step < steps; ++step) {
    work.matmuls.insert(work.matmuls.end(),
                        {{rows, model, 3 * model}, {rows, model, model}, {rows, model, hidden}, {rows, hidden, model}});
  }
  count(state, work);
}

BENCHMARK(bench_one_hot)
    ->Name("OneHotLinear")
    ->UseRealTime()
    ->ArgNames({"T", "D", "V"})
    ->Args({32, 512, 1000})
    ->Args({32, 512, 32000});
BENCHMARK(bench_concatenated_positions)
    ->Name("ConcatenatedPositions")
    ->UseRealTime()
    ->ArgNames({"B", "T", "D"})
    ->Args({1, 32, 512})
    ->Args({32, 32, 512});
BENCHMARK(bench_universal_encoder)
    ->Name("UniversalEncoder")
    ->UseRealTime()
    ->ArgNames({"B", "T", "D", "F", "steps"})
    ->Args({1, 32, 512, 2048, 1})
    ->Args({1, 32, 512, 2048, 6})
    ->Args({32, 32, 512, 2048, 6});

}  // namespace
}  // namespace encdec::bench
