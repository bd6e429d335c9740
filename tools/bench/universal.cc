// Benchmarks of Universal Transformers, which apply the same block again and again.
#include <benchmark/benchmark.h>
#include <encdec/models/lessons/universal_transformer/universal_session.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "bench/counters.h"

namespace encdec::bench {
namespace {

constexpr Dim kVocabulary = 1000;

// Returns a Universal Transformer with random weights and two equal stacks.
std::shared_ptr<const UniversalTransformer> random_universal_transformer(Dim model, Dim hidden,
                                                                         const UniversalStackConfig& stack_config) {
  UniversalTransformerConfig config;
  config.model_dim = model;
  config.heads = static_cast<int>(model / 64);
  config.hidden_dim = hidden;
  config.encoder = config.decoder = stack_config;
  WeightShapes shapes;
  add_weights(shapes, "decoder.cross_attention", attention_weights(model));
  add_weights(shapes, "decoder.cross_attention_norm", norm_weights(model));
  for (const std::string stack : {"encoder", "decoder"}) {
    shapes[stack + ".embedding.weight"] = {stack_config.vocabulary, model};
    add_weights(shapes, stack + ".self_attention", attention_weights(model));
    add_weights(shapes, stack + ".self_attention_norm", norm_weights(model));
    add_weights(shapes, stack + ".transition", feed_forward_weights(model, hidden));
    add_weights(shapes, stack + ".transition_norm", norm_weights(model));
    add_weights(shapes, stack + ".halting", projection_weights(1, model));
  }
  add_weights(shapes, "output_projection", projection_weights(stack_config.vocabulary, model));
  return std::make_shared<const UniversalTransformer>(config, random_weights(shapes, pack_options()));
}

// Runs the whole encoder on sources of the same length. With a halting threshold, each position takes its own number of
// steps, up to the maximum.
void bench_universal_encoder(benchmark::State& state, std::optional<float> halting_threshold) {
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
  Work work{.matmuls = {{rows, model, 2 * model}}};  // keys and values for the decoder
  const auto first_of = [&](int sequence) { return static_cast<std::size_t>(sequence * length); };
  for (int step = 0; step < stack.steps; ++step) {
    int running = 0;  // sequences with a position that has not halted
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

// Runs one step of the decoder block for one row of each target, at position T - 1, with sources of S tokens.
void bench_universal_decoder_block(benchmark::State& state) {
  const int batch = static_cast<int>(state.range(0)), length = static_cast<int>(state.range(1)),
            source = static_cast<int>(state.range(2));
  const Dim model = state.range(3), hidden = state.range(4);
  const auto transformer = random_universal_transformer(model, hidden, {.vocabulary = kVocabulary});
  const Work work{.matmuls = {{batch, model, 3 * model},
                              {batch, model, model},
                              {batch, model, model},
                              {batch, model, model},
                              {batch, model, hidden},
                              {batch, hidden, model}},
                  .attention_operations = batch * attention_operations(1, length + source, model)};
  SampleRun run({transformer->decoder_block.graph(),
                 {noise({batch, model}), token_ids(1, 6), Tensor::allocate({batch * source, 2 * model})},
                 work,
                 sequences(batch, {.rows = 1, .past = length - 1, .memory_rows = source})},
                thread_count());
  for (auto _ : state) benchmark::DoNotOptimize(run.run().data());
  count(state, work);
}

}  // namespace

// The encoder with 6 steps, with 1 step, and with halting; the decoder block.
void register_universal() {
  const auto sizes = [](benchmark::internal::Benchmark& encoder) {
    encoder.ArgNames({"B", "T", "D", "F", "steps"})->Args({1, 32, 512, 2048, 6})->Args({32, 32, 512, 2048, 6});
  };
  const auto encoder = [](std::optional<float> halting_threshold) {
    return [=](benchmark::State& state) { bench_universal_encoder(state, halting_threshold); };
  };
  register_for_backends("UniversalEncoder", encoder(std::nullopt), [&](benchmark::internal::Benchmark& fixed) {
    sizes(fixed);
    fixed.Args({1, 32, 512, 2048, 1});
  });
  register_for_backends("UniversalEncoder/adaptive", encoder(0.99f), sizes);
  register_for_backends(
      "UniversalDecoderBlock", bench_universal_decoder_block, [](benchmark::internal::Benchmark& block) {
        block.ArgNames({"B", "T", "S", "D", "F"})->Args({1, 32, 32, 512, 2048})->Args({32, 32, 32, 512, 2048});
      });
}

}  // namespace encdec::bench
