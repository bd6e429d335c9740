// Inputs made explicit, and blocks that are applied again and again.
#include <encdec/layers/concatenated_positions.h>
#include <encdec/layers/one_hot.h>
#include <encdec/models/universal_session.h>

#include <algorithm>
#include <numeric>
#include <optional>

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

// Both stacks alike.
std::shared_ptr<const UniversalTransformer> random_universal_transformer(Dim model, Dim hidden,
                                                                         const UniversalStackConfig& stack_config) {
  UniversalTransformerConfig config;
  config.model_dim = model;
  config.heads = static_cast<int>(model / 64);
  config.hidden_dim = hidden;
  config.encoder = config.decoder = stack_config;
  WeightShapes shapes;
  add_attention(shapes, "decoder.cross_attention", model);
  add_norm(shapes, "decoder.cross_attention_norm", model);
  for (const std::string stack : {"encoder", "decoder"}) {
    shapes[stack + ".embedding.weight"] = {stack_config.vocabulary, model};
    add_attention(shapes, stack + ".self_attention", model);
    add_norm(shapes, stack + ".self_attention_norm", model);
    add_feed_forward(shapes, stack + ".transition", model, hidden);
    add_norm(shapes, stack + ".transition_norm", model);
    add_projection(shapes, stack + ".halting", 1, model);
  }
  add_projection(shapes, "output_projection", stack_config.vocabulary, model);
  return std::make_shared<const UniversalTransformer>(config, random_weights(shapes));
}

// Sources of the same length through the whole encoder, with what its positions take of at most so many steps.
void bench_encoder_run(benchmark::State& state, std::optional<float> halting_threshold) {
  const int batch = static_cast<int>(state.range(0)), length = static_cast<int>(state.range(1));
  const Dim model = state.range(2), hidden = state.range(3);
  const UniversalStackConfig stack{
      .vocabulary = kVocabulary, .steps = static_cast<int>(state.range(4)), .halting_threshold = halting_threshold};
  UniversalSession session(random_universal_transformer(model, hidden, stack),
                           std::make_shared<ThreadTeam>(thread_count()));
  const std::int64_t rows = batch * length;
  const Tensor ids = token_ids(rows, kVocabulary);
  std::vector<UniversalSession::TokenIds> sources;
  for (int b = 0; b < batch; ++b) {
    const auto* first = ids.data<std::int32_t>() + b * length;
    sources.emplace_back(first, first + length);
  }
  for (auto _ : state) benchmark::DoNotOptimize(session.encode(sources));

  const std::span<const std::int32_t> updates = session.encode(sources).updates;
  Work work{.matmuls = {{rows, model, 2 * model}}};  // what the decoder will read
  const auto first_of = [&](int sequence) { return static_cast<std::size_t>(sequence * length); };
  for (int step = 0; step < stack.steps; ++step) {
    int running = 0;  // sequences: each until all of its positions have halted
    for (int b = 0; b < batch; ++b) running += std::ranges::max(updates.subspan(first_of(b), first_of(1))) > step;
    if (running == 0) break;
    const std::int64_t left = running * length;
    work.matmuls.insert(work.matmuls.end(),
                        {{left, model, 3 * model}, {left, model, model}, {left, model, hidden}, {left, hidden, model}});
    work.attention_operations += running * attention_operations(length, length, model);
  }
  count(state, work);
  state.counters["steps"] = std::accumulate(updates.begin(), updates.end(), 0.0) / static_cast<double>(rows);
}

// The encoder of 6 steps, or its embedding and one.
void bench_universal_encoder(benchmark::State& state) {
  bench_encoder_run(state, {});
}
void bench_adaptive_encoder(benchmark::State& state) {
  bench_encoder_run(state, 0.99f);
}

// One step of the block's recurrence for one row of each target, after T - 1 positions, with sources of S tokens.
void bench_universal_decoder_block(benchmark::State& state) {
  const int batch = static_cast<int>(state.range(0)), length = static_cast<int>(state.range(1)),
            source = static_cast<int>(state.range(2));
  const Dim model = state.range(3), hidden = state.range(4);
  const auto transformer = random_universal_transformer(model, hidden, {.vocabulary = kVocabulary});
  const KeyValueForm& form = transformer->memory_form;
  Bench bench(transformer->decoder_block.graph(), {noise({batch, model}), token_ids(1, 6),
                                                   Tensor::allocate({batch * source, 2 * form.width()}, form.type)});
  bench.set_sequences(batch, 1, length - 1, source);
  bench.run(state, {.matmuls = {{batch, model, 3 * model},
                                {batch, model, model},
                                {batch, model, model},
                                {batch, model, model},
                                {batch, model, hidden},
                                {batch, hidden, model}},
                    .attention_operations = batch * attention_operations(1, length + source, model)});
}

void encoder_sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->UseRealTime()
      ->ArgNames({"B", "T", "D", "F", "steps"})
      ->Args({1, 32, 512, 2048, 6})
      ->Args({32, 32, 512, 2048, 6});
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
BENCHMARK(bench_universal_encoder)->Name("UniversalEncoder")->Apply(encoder_sizes)->Args({1, 32, 512, 2048, 1});
BENCHMARK(bench_adaptive_encoder)->Name("UniversalEncoder/adaptive")->Apply(encoder_sizes);
BENCHMARK(bench_universal_decoder_block)
    ->Name("UniversalDecoderBlock")
    ->UseRealTime()
    ->ArgNames({"B", "T", "S", "D", "F"})
    ->Args({1, 32, 32, 512, 2048})
    ->Args({32, 32, 32, 512, 2048});

}  // namespace
}  // namespace encdec::bench
