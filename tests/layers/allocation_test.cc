// Tests the memory use of a RunState: after the first runs the engine allocates nothing, and after a failed allocation
// the state is still usable. This program replaces operator new.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <new>

#include "encdec/engine/executor.h"
#include "encdec/layers/transformer/add_norm.h"
#include "encdec/layers/transformer/embedding.h"
#include "encdec/layers/transformer/feed_forward.h"
#include "encdec/layers/transformer/masked_decoder_attention.h"
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

constexpr Dim kModelDim = 64, kHiddenDim = 160;
constexpr int kVocabulary = 100, kThreads = 2;

// A decoder of one layer: its runs need activations, scratch memory and a cache.
Executor make_decoder(Precision precision = Precision::float32) {
  RandomTensors random(1);
  const PackOptions pack{.threads = kThreads, .precision = precision};
  const AttentionOptions attention{.model_dim = kModelDim, .heads = 4};
  const EmbeddingOptions table{.vocabulary = kVocabulary, .model_dim = kModelDim};
  const FeedForwardOptions sizes{
      .model_dim = kModelDim, .hidden_dim = kHiddenDim, .activation = Activation::gelu, .bias = Bias::none};
  const auto scope = [&](const std::map<std::string, Tensor>& weights) { return make_scope(weights, pack); };
  Graph graph("decoder");
  const Edge ids = graph.input("ids", {kTargetRows}, DataType::int32);
  const Edge x = graph.add(
      "embedding", std::make_shared<Embedding>(scope({{"weight", random.uniform({kVocabulary, kModelDim})}}), table),
      {ids});
  const Edge attended =
      graph.add("attention",
                std::make_shared<MaskedDecoderAttention>(scope(attention_weights(random, attention)), attention), {x});
  const Edge mixed = graph.add("norm",
                               std::make_shared<AddNorm>(scope({{"weight", random.uniform({kModelDim})}}),
                                                         NormOptions{.kind = NormKind::rms, .width = kModelDim}),
                               {x, attended});
  graph.output(
      graph.add("feed_forward",
                std::make_shared<FeedForward>(scope({{"expand.weight", random.uniform({kHiddenDim, kModelDim}, 0.2)},
                                                     {"project.weight", random.uniform({kModelDim, kHiddenDim}, 0.2)}}),
                                              sizes),
                {mixed}));
  return Executor(std::move(graph));
}

// Decodes three targets. Its buffers are reused, as in a server.
class Decoding {
 public:
  explicit Decoding(const Executor& decoder)
      : decoder_(decoder), state_(decoder.graph(), std::make_shared<ThreadTeam>(kThreads)) {}

  // Closes all targets, and reads the first `rows` tokens of three new ones.
  void start(int rows) {
    state_.cache_index.close_all();
    past_ = 0;
    read(rows);
  }
  void read(int rows) {
    state_.sequences.clear();
    for (int target = 0; target < 3; ++target) {
      if (past_ == 0) slots_[static_cast<std::size_t>(target)] = state_.cache_index.open();
      const int slot = slots_[static_cast<std::size_t>(target)];
      state_.cache_index.append(slot, rows);
      state_.sequences.push_back({.first_row = target * rows, .rows = rows, .past = past_, .slot = slot});
    }
    past_ += rows;
    const std::array<Tensor, 1> inputs = {kIds.slice(past_, 3 * rows)};
    output_ = decoder_.run(inputs, state_)[0];
  }
  void steps(int count) {
    for (int i = 0; i < count; ++i) read(1);
  }

  const Tensor& output() const { return output_; }

 private:
  static inline const Tensor kIds = RandomTensors(2).ids(4000, kVocabulary);

  const Executor& decoder_;
  RunState state_;
  std::array<int, 3> slots_{};
  int past_ = 0;
  Tensor output_;
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

TEST(Allocation, NothingIsAllocatedAfterTheFirstRuns) {
  for (const Precision precision : {Precision::float32, Precision::bfloat16, Precision::int8}) {
    const Executor decoder = make_decoder(precision);
    Decoding decoding(decoder);
    EXPECT_TRUE(stops_allocating([&] {
      decoding.start(5);
      decoding.steps(40);  // several pages of the cache
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

// Runs `action` with an allocation that fails, number `nth`. Returns whether it threw std::bad_alloc.
bool fails_at(int nth, const std::function<void()>& action) {
  const AllocationWatch watch;
  fail_allocation(nth);
  bool failed = false;
  try {
    action();
  } catch (const std::bad_alloc&) {
    failed = true;
  }
  fail_no_allocation();
  return failed;
}

// For each allocation of the first runs: makes it fail, then runs everything on the same state.
TEST(Allocation, AfterAFailedAllocationTheStateGivesTheSameBits) {
  const Executor decoder = make_decoder();
  Decoding fresh(decoder);
  fresh.start(5);
  fresh.steps(20);
  int failures = 0;
  for (int nth = 0;; ++nth) {
    ASSERT_LT(nth, 10000) << "the runs never succeed";
    // A new state, and a state that ran with smaller sizes before and must grow.
    for (const bool grown : {false, true}) {
      Decoding decoding(decoder);
      if (grown) decoding.start(1);
      const bool failed = fails_at(nth, [&] {
        decoding.start(5);
        decoding.steps(20);
      });
      failures += failed;
      decoding.start(5);
      decoding.steps(20);
      ASSERT_TRUE(same_bits(fresh.output(), decoding.output())) << "after allocation " << nth << " has failed";
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
  const Executor decoder = make_decoder();
  int failures = 0;
  for (int nth = 0; nth < 20; ++nth) {
    Decoding decoding(decoder);
    decoding.start(40);
    const Tensor expected = copy_of(decoding.output());
    failures += fails_at(nth, [&] { decoding.start(400); });
    decoding.start(40);
    ASSERT_TRUE(in_a_large_block(decoding.output().raw())) << "the output lies in freed memory, allocation " << nth;
    ASSERT_TRUE(same_bits(expected, decoding.output())) << "after allocation " << nth << " has failed";
  }
  EXPECT_GT(failures, 2);
}

}  // namespace
}  // namespace encdec
