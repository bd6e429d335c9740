// Tests the memory use of a RunState: after the first runs the engine allocates nothing, and after a failed allocation
// the state is still usable. This program replaces operator new.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <new>

#include "encdec/engine/executor.h"
#include "encdec/layers/transformer/add_norm.h"
#include "encdec/layers/transformer/cross_attention.h"
#include "encdec/layers/transformer/embedding.h"
#include "encdec/layers/transformer/feed_forward.h"
#include "encdec/layers/transformer/masked_decoder_attention.h"
#include "encdec/layers/transformer/multi_head_attention.h"
#include "encdec/layers/transformer/positional_encoding.h"
#include "tests/layers/attention_fixture.h"
#include "tests/support/allocation_watch.h"
#include "tests/support/comparison.h"
#include "tests/support/layer_runner.h"
#include "tests/support/random_tensors.h"
#include "tests/support/weights_builder.h"
#include "tools/bench/samples.h"

namespace encdec {
namespace {

constexpr Dim kModelDim = 64;
constexpr Dim kHiddenDim = 160;
constexpr Dim kVocabulary = 100;
constexpr int kThreads = 2;

std::map<std::string, Tensor> under(const std::string& scope, const std::map<std::string, Tensor>& tensors) {
  std::map<std::string, Tensor> moved;
  for (const auto& [name, tensor] : tensors) moved[scope + "." + name] = tensor;
  return moved;
}

// A small Transformer of one encoder layer and one decoder layer, with every kind of layer in it.
class LittleTransformer {
 public:
  explicit LittleTransformer(Precision precision = Precision::float32)
      : weights_(make_weights(precision)), encoder_(make_encoder()), decoder_(make_decoder()) {}

  const Executor& encoder() const { return encoder_; }
  const Executor& decoder() const { return decoder_; }

 private:
  static WeightScope make_weights(Precision precision) {
    RandomTensors random(1);
    std::map<std::string, Tensor> all = {{"embedding.weight", random.uniform({kVocabulary, kModelDim})},
                                         {"vocabulary.weight", random.uniform({kVocabulary, kModelDim})}};
    for (const char* name : {"self_attention", "masked_attention", "cross_attention"}) {
      all.merge(under(name, attention_weights(random, {.model_dim = kModelDim, .heads = 4})));
    }
    all.merge(under("feed_forward", {{"expand.weight", random.uniform({kHiddenDim, kModelDim}, 0.2)},
                                     {"expand.bias", random.uniform({kHiddenDim})},
                                     {"project.weight", random.uniform({kModelDim, kHiddenDim}, 0.2)},
                                     {"project.bias", random.uniform({kModelDim})}}));
    all.merge(under("norm", {{"weight", random.uniform({kModelDim})}, {"bias", random.uniform({kModelDim})}}));
    return make_scope(all, {.threads = kThreads, .precision = precision});
  }

  Edge embed(Graph& graph, Edge ids) const {
    const Edge tokens = graph.add<Embedding>(weights_ / "embedding", {ids},
                                             EmbeddingOptions{.vocabulary = kVocabulary, .model_dim = kModelDim});
    return graph.add("positions", std::make_shared<PositionalEncoding>(SinusoidLayout::halves, kModelDim), {tokens});
  }

  Edge norm(Graph& graph, const std::string& name, std::vector<Edge> edges) const {
    return graph.add(name, std::make_shared<AddNorm>(weights_ / "norm", NormOptions{.width = kModelDim}),
                     std::move(edges));
  }

  Edge feed_forward(Graph& graph, Edge x) const {
    const Edge y = graph.add<FeedForward>(
        weights_ / "feed_forward", {x},
        FeedForwardOptions{.model_dim = kModelDim, .hidden_dim = kHiddenDim, .activation = Activation::gelu});
    return norm(graph, "feed_forward_norm", {x, y});
  }

  Executor make_encoder() const {
    Graph graph("encoder");
    const AttentionOptions attention{.model_dim = kModelDim, .heads = 4};
    const Edge x = embed(graph, graph.input("source_ids", {kSourceRows}, DataType::int32));
    const Edge attended = graph.add<MultiHeadAttention>(weights_ / "self_attention", {x}, attention);
    const Edge hidden = feed_forward(graph, norm(graph, "attention_norm", {x, attended}));
    graph.output(graph.add<CrossAttentionMemory>(weights_ / "cross_attention", {hidden}, attention));
    return Executor(std::move(graph));
  }

  Executor make_decoder() const {
    Graph graph("decoder");
    const AttentionOptions attention{.model_dim = kModelDim, .heads = 4};
    const Edge x = embed(graph, graph.input("target_ids", {kTargetRows}, DataType::int32));
    const Edge memory = graph.input("memory", {kSourceRows, 2 * kModelDim}, key_value_type(weights_.pack().precision));
    const Edge attended = graph.add<MaskedDecoderAttention>(weights_ / "masked_attention", {x}, attention);
    const Edge mixed = norm(graph, "attention_norm", {x, attended});
    const Edge crossed = graph.add<CrossAttention>(weights_ / "cross_attention", {mixed, memory}, attention);
    const Edge hidden = feed_forward(graph, norm(graph, "cross_attention_norm", {mixed, crossed}));
    graph.output(
        graph.add<Linear>(weights_ / "vocabulary", {hidden},
                          LinearOptions{.input_width = kModelDim, .output_width = kVocabulary, .bias = Bias::none}));
    return Executor(std::move(graph));
  }

  WeightScope weights_;
  Executor encoder_;
  Executor decoder_;
};

// A translation of three sources. Its buffers are reused, as in a server.
class Session {
 public:
  static constexpr int kSequences = 3;
  static constexpr std::array kSourceLengths = {5, 9, 2};

  explicit Session(const LittleTransformer& model)
      : model_(model),
        team_(std::make_shared<ThreadTeam>(kThreads)),
        encoder_(model.encoder().graph(), team_),
        decoder_(model.decoder().graph(), team_),
        source_(RandomTensors(2).ids(16, kVocabulary)),
        target_(Tensor::allocate({kSequences}, DataType::int32)) {}

  void start() {
    decoder_.cache_index.close_all();
    encoder_.sequences.clear();
    decoder_.sequences.clear();
    int first = 0;
    for (int i = 0; i < kSequences; ++i) {
      const int length = kSourceLengths[static_cast<std::size_t>(i)];
      encoder_.sequences.push_back({.first_row = first, .rows = length});
      decoder_.sequences.push_back({.first_row = i,
                                    .rows = 1,
                                    .slot = decoder_.cache_index.open(),
                                    .first_memory_row = first,
                                    .memory_rows = length});
      first += length;
    }
    const std::array<Tensor, 1> inputs = {source_};
    memory_ = model_.encoder().run(inputs, encoder_)[0];
  }

  // Decodes `steps` steps. Copies the last step's output to `output` unless that is null, because a copy allocates.
  void decode(int steps, Tensor* output = nullptr) {
    for (int step = 0; step < steps; ++step) {
      for (Sequence& sequence : decoder_.sequences) {
        sequence.past = step;
        decoder_.cache_index.append(sequence.slot, 1);
        target_.data<std::int32_t>()[sequence.first_row] = static_cast<std::int32_t>((7 * step) % kVocabulary);
      }
      const std::array<Tensor, 2> inputs = {target_, memory_};
      const Tensor& logits = model_.decoder().run(inputs, decoder_)[0];
      if (output != nullptr && step == steps - 1) *output = copy_of(logits);
    }
  }

 private:
  const LittleTransformer& model_;
  std::shared_ptr<ThreadTeam> team_;
  RunState encoder_;
  RunState decoder_;
  Tensor source_;
  Tensor target_;
  Tensor memory_;
};

TEST(Allocation, TheWatchCountsAllocations) {
  const AllocationWatch watch;
  const Tensor tensor = Tensor::allocate({4});
  EXPECT_GE(watch.count(), 2);  // the memory and the reference count of its owner
}

// Calls `run` until 20 calls in a row allocate nothing. Returns false if 2000 calls do not suffice. Each thread of the
// team allocates when it first takes part, and the system's scheduler decides when that is.
bool stops_allocating(const std::function<void()>& run) {
  constexpr int kQuietRuns = 20, kMaxRuns = 2000;
  int quiet_runs = 0;
  for (int i = 0; i < kMaxRuns && quiet_runs < kQuietRuns; ++i) {
    const AllocationWatch watch;
    run();
    quiet_runs = watch.count() == 0 ? quiet_runs + 1 : 0;
  }
  return quiet_runs == kQuietRuns;
}

TEST(Allocation, NothingIsAllocatedAfterTheFirstTranslations) {
  for (const Precision precision : {Precision::float32, Precision::bfloat16, Precision::int8}) {
    const LittleTransformer model(precision);
    Session session(model);
    EXPECT_TRUE(stops_allocating([&] {
      session.start();
      session.decode(40);  // several pages of the cache
    })) << to_string(precision);
  }
}

TEST(Allocation, NoLayerAllocatesAfterTheFirstRuns) {
  for (const bench::LayerSample& layer : bench::transformer_layers()) {
    bench::SampleRun run(layer.make(layer.sizes.front(), {.threads = kThreads}), kThreads);
    EXPECT_TRUE(stops_allocating([&] { run.run(); })) << layer.name;
  }
}

TEST(Allocation, PositionsBeyondTheTableAllocateNothing) {
  constexpr int kRows = 9;
  Graph graph("positions");
  const Edge x = graph.input("x", {kSourceRows, kModelDim});
  graph.output(graph.add("positions", std::make_shared<PositionalEncoding>(SinusoidLayout::halves, kModelDim), {x}));
  const Executor executor(std::move(graph));
  RunState state(executor.graph(), std::make_shared<ThreadTeam>(kThreads));
  state.sequences = packed(std::array{kRows}, std::array{1020});
  const std::array<Tensor, 1> inputs = {RandomTensors(5).uniform({kRows, kModelDim})};
  EXPECT_TRUE(stops_allocating([&] { executor.run(inputs, state); }));
}

TEST(Allocation, ACacheThatGrowsWithinAPageAllocatesNothing) {
  const LittleTransformer model;
  Session session(model);
  session.start();
  session.decode(3);
  int fewest = std::numeric_limits<int>::max();
  for (int run = 0; run < 20; ++run) {
    session.start();
    const AllocationWatch watch;
    session.decode(CacheIndex::kPageRows - 4);
    fewest = std::min(fewest, watch.count());
  }
  EXPECT_EQ(fewest, 0);
}

// For each allocation of a first translation: makes it fail, then runs the whole translation on the same state.
TEST(Allocation, AfterAFailedAllocationTheStateGivesTheSameBits) {
  const LittleTransformer model;
  Tensor expected;
  {
    Session session(model);
    session.start();
    session.decode(20, &expected);
  }
  int failures = 0;
  for (int nth = 0;; ++nth) {
    ASSERT_LT(nth, 10000) << "a translation never succeeds";
    // A new state, and a state that ran with smaller sizes before and must grow.
    for (const bool grown : {false, true}) {
      Session session(model);
      if (grown) {
        session.start();
        session.decode(1);
      }
      bool failed = false;
      {
        const AllocationWatch watch;
        fail_allocation(nth);
        try {
          session.start();
          session.decode(20);
        } catch (const std::bad_alloc&) {
          failed = true;
          ++failures;
        }
        fail_no_allocation();
      }
      Tensor output;
      session.start();
      session.decode(20, &output);
      ASSERT_TRUE(same_bits(expected, output)) << "after allocation " << nth << " has failed";
      if (!failed && !grown) {
        EXPECT_GT(failures, 50);
        return;
      }
    }
  }
}

// A run that needs a larger arena frees the old arena first. If the new allocation then fails, the memory plan of the
// earlier, smaller run must not be used for the next run.
TEST(Allocation, AfterAFailedGrowthSmallRunsStillWork) {
  const LittleTransformer model;
  const Executor& encoder = model.encoder();
  const std::array<Tensor, 1> small = {RandomTensors(3).ids(100, kVocabulary)};
  const std::array<Tensor, 1> large = {RandomTensors(4).ids(1000, kVocabulary)};
  int failures = 0;
  for (int nth = 0; nth < 8; ++nth) {
    RunState state(encoder.graph(), std::make_shared<ThreadTeam>(kThreads));
    state.sequences = packed(std::array{100});
    const Tensor expected = copy_of(encoder.run(small, state)[0]);
    state.sequences = packed(std::array{1000});
    {
      const AllocationWatch watch;
      fail_allocation(nth);
      try {
        encoder.run(large, state);
      } catch (const std::bad_alloc&) {
        ++failures;
      }
      fail_no_allocation();
    }
    state.sequences = packed(std::array{100});
    const Tensor& output = encoder.run(small, state)[0];
    ASSERT_TRUE(in_a_large_block(output.raw())) << "the output lies in freed memory, allocation " << nth;
    ASSERT_TRUE(same_bits(expected, output)) << "after allocation " << nth << " has failed";
  }
  EXPECT_GT(failures, 2);
}

}  // namespace
}  // namespace encdec
