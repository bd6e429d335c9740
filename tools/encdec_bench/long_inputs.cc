// Attention to long inputs and images.
#include <encdec/layers/image_self_attention.h>
#include <encdec/layers/local_attention.h>
#include <encdec/layers/memory_compressed_attention.h>
#include <encdec/layers/multi_head_attention.h>

#include "bench_layer.h"

namespace encdec::bench {
namespace {

constexpr AttentionOptions kAttention{.model_dim = 512, .heads = 8};

// Of self-attention in which each row sees so many keys on average.
Work work_of(std::int64_t length, double keys) {
  const Dim model = kAttention.model_dim;
  return {.matmuls = {{length, model, 3 * model}, {length, model, model}},
          .attention_operations = attention_operations(static_cast<double>(length), keys, model)};
}

// One sequence, by a layer that has `shapes` beside the projections.
template <class L, class Options>
void bench_long_input(benchmark::State& state, WeightShapes shapes, const Options& options, const Work& work) {
  const int length = static_cast<int>(state.range(0));
  const Dim model = kAttention.model_dim;
  add_attention(shapes, "self_attention", model);
  Bench bench(one_layer<L>(random_weights(shapes) / "self_attention", {{kSourceRows, model}}, options),
              {noise({length, model})});
  bench.set_sequences(1, length);
  bench.run(state, work);
}

void bench_all_keys(benchmark::State& state) {
  const std::int64_t length = state.range(0);
  bench_long_input<MultiHeadAttention>(state, {}, kAttention, work_of(length, static_cast<double>(length)));
}

template <WindowSides sides>
void bench_local_attention(benchmark::State& state) {
  const std::int64_t length = state.range(0), window = state.range(1);
  // A row's own key, and on each side the window's, less what lies beyond an end of the sequence.
  const double cut_off = static_cast<double>(window * (window + 1)) / 2.0 / static_cast<double>(length);
  const double side = static_cast<double>(window) - cut_off;
  bench_long_input<LocalAttention>(
      state, {}, LocalAttentionOptions{.attention = kAttention, .window = static_cast<int>(window), .sides = sides},
      work_of(length, 1.0 + (sides == WindowSides::both ? 2.0 : 1.0) * side));
}

void bench_memory_compressed_attention(benchmark::State& state) {
  const std::int64_t length = state.range(0), stride = state.range(1), keys = (length + stride - 1) / stride;
  const Dim model = kAttention.model_dim;
  WeightShapes shapes;
  for (const char* name : {"self_attention.key_convolution", "self_attention.value_convolution"}) {
    shapes[std::string(name) + ".weight"] = {model, model, stride};
    shapes[std::string(name) + ".bias"] = {model};
  }
  Work work = work_of(length, static_cast<double>(keys));
  work.matmuls.insert(work.matmuls.end(), 2, {keys, stride * model, model});
  bench_long_input<MemoryCompressedAttention>(
      state, shapes, MemoryCompressedAttentionOptions{.attention = kAttention, .kernel = stride, .stride = stride},
      work);
}

void bench_image_self_attention(benchmark::State& state) {
  const Dim side = state.range(0), channels = state.range(1), eighth = channels / 8;
  const std::int64_t positions = side * side;
  Bench bench(
      one_layer<ImageSelfAttention>(random_weights({{"attention.query.weight", {eighth, channels}},
                                                    {"attention.key.weight", {eighth, channels}},
                                                    {"attention.value.weight", {eighth, channels}},
                                                    {"attention.output.weight", {channels, eighth}},
                                                    {"attention.gamma", {1}}}) /
                                        "attention",
                                    {{kBatch, side, side, channels}}, ImageSelfAttentionOptions{.channels = channels}),
      {noise({1, side, side, channels})});
  bench.run(state, {.matmuls = {{positions, channels, 3 * eighth}, {positions, eighth, channels}},
                    .attention_operations =
                        attention_operations(static_cast<double>(positions), static_cast<double>(positions), eighth)});
}

void windows(benchmark::internal::Benchmark* benchmark) {
  benchmark->UseRealTime()->ArgNames({"T", "window"})->ArgsProduct({{512, 4096}, {32, 128}});
}

BENCHMARK(bench_all_keys)->Name("LongInput/MultiHeadAttention")->UseRealTime()->ArgName("T")->Arg(512)->Arg(4096);
BENCHMARK(bench_local_attention<WindowSides::both>)->Name("LongInput/LocalAttention")->Apply(windows);
BENCHMARK(bench_local_attention<WindowSides::before>)->Name("LongInput/LocalAttention/before")->Apply(windows);
BENCHMARK(bench_memory_compressed_attention)
    ->Name("LongInput/MemoryCompressedAttention")
    ->UseRealTime()
    ->ArgNames({"T", "stride"})
    ->Args({512, 3})
    ->Args({4096, 3});
BENCHMARK(bench_image_self_attention)
    ->Name("ImageSelfAttention")
    ->UseRealTime()
    ->ArgNames({"side", "C"})
    ->Args({32, 256})
    ->Args({64, 64})
    ->Args({64, 256});

}  // namespace
}  // namespace encdec::bench
