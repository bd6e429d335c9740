#include "encdec/models/universal_transformer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

#include "encdec/engine/error.h"
#include "encdec/models/universal_session.h"
#include "tests/layers/attention_fixture.h"
#include "tests/support/allocation_watch.h"
#include "tests/support/comparison.h"
#include "tests/support/golden_layer.h"
#include "tests/support/layer_runner.h"
#include "tests/support/naive_reference.h"
#include "tests/support/random_tensors.h"
#include "tests/support/weights_builder.h"

namespace encdec {
namespace {

using reference::Mask;
using reference::Matrix;
using Ids = std::vector<std::int32_t>;
using Batch = std::vector<Ids>;
using Weights = std::map<std::string, Tensor>;

constexpr int kSourceVocabulary = 23, kTargetVocabulary = 17;

struct Sizes {
  Dim model_dim;
  int heads;
  Dim hidden_dim;
};
constexpr std::array kSizes = {Sizes{1, 1, 1}, Sizes{6, 3, 7}, Sizes{7, 1, 13}, Sizes{15, 5, 31}, Sizes{32, 2, 64}};

// Which kinds of loops there are.
enum class Loop { fixed, transformed, copied };
constexpr std::array kLoops = {Loop::fixed, Loop::transformed, Loop::copied};

UniversalTransformerConfig config_for(const Sizes& sizes, Loop loop, int steps) {
  UniversalStackConfig stack{.vocabulary = kSourceVocabulary, .embedding_scale = 1.5f, .steps = steps};
  if (loop != Loop::fixed) stack.halting_threshold = 0.9f;
  if (loop == Loop::copied) stack.halted_state = HaltedState::copied;
  UniversalTransformerConfig config{.model_dim = sizes.model_dim,
                                    .heads = sizes.heads,
                                    .hidden_dim = sizes.hidden_dim,
                                    .encoder = stack,
                                    .decoder = stack};
  config.decoder.vocabulary = kTargetVocabulary;
  return config;
}

void add(Weights& all, const std::string& scope, const Weights& part) {
  for (const auto& [name, tensor] : part) all[scope + "." + name] = tensor;
}

Weights weights_for(const UniversalTransformerConfig& config, std::uint64_t seed = 1) {
  RandomTensors random(seed);
  const Dim model = config.model_dim, hidden = config.hidden_dim;
  const auto map = [&](Dim outputs, Dim inputs) {
    const double limit = std::sqrt(3.0 / static_cast<double>(inputs));
    return Weights{{"weight", random.uniform({outputs, inputs}, limit)}, {"bias", random.uniform({outputs}, 0.5)}};
  };
  Weights all;
  for (const std::string side : {"encoder", "decoder"}) {
    const bool encoder = side == "encoder";
    all[side + ".embedding.weight"] = random.uniform({encoder ? kSourceVocabulary : kTargetVocabulary, model});
    add(all, side + ".self_attention", attention_weights(random, config.attention()));
    if (!encoder) add(all, side + ".cross_attention", attention_weights(random, config.attention()));
    add(all, side + ".transition.expand", map(hidden, model));
    add(all, side + ".transition.project", map(model, hidden));
    for (const std::string norm : {"self_attention_norm", "cross_attention_norm", "transition_norm"}) {
      if (encoder && norm == "cross_attention_norm") continue;
      add(all, side + "." + norm, {{"weight", random.uniform({model})}, {"bias", random.uniform({model})}});
    }
    if (config.encoder.halting_threshold) add(all, side + ".halting", map(1, model));
  }
  add(all, "output_projection", map(kTargetVocabulary, model));
  return all;
}

std::shared_ptr<const UniversalTransformer> make_model(const UniversalTransformerConfig& config,
                                                       const PackOptions& pack = {}) {
  return std::make_shared<const UniversalTransformer>(config, make_scope(weights_for(config), pack));
}

Batch random_batch(std::uint64_t seed, const std::vector<int>& lengths, int vocabulary) {
  RandomTensors random(seed);
  Batch batch;
  for (const int length : lengths) {
    const Tensor ids = random.ids(length, vocabulary);
    batch.emplace_back(ids.data<std::int32_t>(), ids.data<std::int32_t>() + length);
  }
  return batch;
}

const std::vector<int> kSourceLengths = {5, 1, 9, 3};
const std::vector<int> kTargetLengths = {4, 6, 1, 8};
Batch sources() {
  return random_batch(7, kSourceLengths, kSourceVocabulary);
}
Batch targets() {
  return random_batch(8, kTargetLengths, kTargetVocabulary);
}

// Of outputs about as large as 1, after up to 12 blocks: as for the golden values of whole checkpoints. Bounds that are
// carried through so many norms say nothing; the layers are held to theirs one by one.
constexpr double kTolerance = 2e-5;

testing::AssertionResult near(Matrix expected, const Tensor& actual, double tolerance = kTolerance) {
  std::ranges::fill(expected.errors, tolerance);
  return is_close_to(expected, actual);
}
testing::AssertionResult near(const Tensor& expected, const Tensor& actual) {
  return near(Matrix(expected), actual);
}

// The paper's formulas for one source and one target, in double precision.
class Naive {
 public:
  Naive(const UniversalTransformerConfig& config, const std::function<Tensor(const std::string&)>& weight)
      : config_(config), weight_(weight) {}

  Matrix encode(const Ids& source) const { return loop("encoder", config_.encoder, source, nullptr); }
  Matrix logits(const Ids& source, const Ids& target) const {
    const Matrix memory = encode(source);
    return map("output_projection", loop("decoder", config_.decoder, target, &memory));
  }

 private:
  Matrix at(const std::string& name) const { return Matrix(weight_(name)); }
  Matrix map(const std::string& name, const Matrix& x) const {
    const Matrix bias = at(name + ".bias");
    return linear(x, at(name + ".weight"), &bias);
  }
  Matrix norm(const std::string& name, const Matrix& x) const {
    return layer_norm(x, at(name + ".weight"), at(name + ".bias"), static_cast<double>(config_.norm_epsilon));
  }
  Matrix attend(const std::string& name, const Matrix& x, const Matrix& memory, Mask mask) const {
    return map(name + ".output", multi_head_attention(map(name + ".query", x), map(name + ".key", memory),
                                                      map(name + ".value", memory), config_.heads, {.mask = mask}));
  }
  Matrix sinusoids(std::int64_t first, std::int64_t count) const {
    return config_.layout == SinusoidLayout::interleaved
               ? reference::sinusoids_interleaved(first, count, config_.model_dim)
               : reference::sinusoids_halves(first, count, config_.model_dim);
  }
  Matrix block(const std::string& side, Matrix x, const Matrix* memory) const {
    x = norm(side + ".self_attention_norm",
             add(x, attend(side + ".self_attention", x, x, memory != nullptr ? Mask::causal : Mask::none)));
    if (memory != nullptr) {
      x = norm(side + ".cross_attention_norm", add(x, attend(side + ".cross_attention", x, *memory, Mask::none)));
    }
    const Matrix y =
        map(side + ".transition.project", reference::activate(config_.activation, map(side + ".transition.expand", x)));
    return norm(side + ".transition_norm", add(x, y));
  }
  Matrix loop(const std::string& side, const UniversalStackConfig& stack, const Ids& ids, const Matrix* memory) const {
    const Matrix table = at(side + ".embedding.weight");
    std::vector<Matrix> rows;
    for (const std::int32_t id : ids) rows.push_back(table.slice_rows(id, 1));
    Matrix state = reference::stack(rows);
    for (double& value : state.values) value *= static_cast<double>(stack.embedding_scale);
    const auto count = static_cast<std::int64_t>(ids.size());
    Matrix result(count, config_.model_dim);
    std::vector<double> halting(ids.size());
    for (int step = 0; step < stack.steps; ++step) {
      const std::vector<Matrix> steps(ids.size(), sinusoids(config_.first_step + step, 1));
      const Matrix x = add(add(state, sinusoids(config_.first_position, count)), reference::stack(steps));
      const Matrix transformed = block(side, x, memory);
      if (!stack.halting_threshold) {
        state = result = transformed;
        continue;
      }
      const Matrix p = sigmoid(map(side + ".halting", x));
      for (std::int64_t r = 0; r < count; ++r) {
        const auto i = static_cast<std::size_t>(r);
        const bool was_running = halting[i] < 1;
        if (was_running) {
          const double sum = halting[i] + p.at(r, 0);
          const bool halts = sum > static_cast<double>(*stack.halting_threshold);
          EXPECT_GT(std::abs(sum - static_cast<double>(*stack.halting_threshold)), 1e-4) << "rounding would decide";
          const double weight = halts ? 1 - halting[i] : p.at(r, 0);
          halting[i] = halts ? 1 : sum;
          for (std::int64_t c = 0; c < result.columns; ++c) {
            result.at(r, c) = transformed.at(r, c) * weight + result.at(r, c) * (1 - weight);
          }
        }
        if (!was_running && stack.halted_state == HaltedState::copied) continue;
        for (std::int64_t c = 0; c < result.columns; ++c) state.at(r, c) = transformed.at(r, c);
      }
    }
    return result;
  }

  const UniversalTransformerConfig& config_;
  std::function<Tensor(const std::string&)> weight_;
};

Naive naive_for(const UniversalTransformerConfig& config) {
  return {config, [weights = weights_for(config)](const std::string& name) { return weights.at(name); }};
}

TEST(UniversalTransformer, FollowsTheFormulasForEverySize) {
  for (const Sizes& sizes : kSizes) {
    for (const Loop loop : kLoops) {
      UniversalTransformerConfig config = config_for(sizes, loop, 4);
      if (sizes.model_dim == 15) {
        config.layout = SinusoidLayout::halves;
        config.first_position = 0;
        config.first_step = 3;
      }
      const Naive naive = naive_for(config);
      UniversalSession session(make_model(config));
      std::vector<Matrix> encoded, logits;
      for (std::size_t i = 0; i < sources().size(); ++i) {
        encoded.push_back(naive.encode(sources()[i]));
        logits.push_back(naive.logits(sources()[i], targets()[i]));
      }
      EXPECT_TRUE(near(reference::stack(encoded), session.encode(sources()).hidden)) << sizes.model_dim;
      EXPECT_TRUE(near(reference::stack(logits), session.forward(sources(), targets()))) << sizes.model_dim;
    }
  }
}

// Golden cases.

Batch unpacked(const Tensor& ids, const Tensor& lengths) {
  Batch batch;
  const auto* next = ids.data<std::int32_t>();
  for (Dim i = 0; i < lengths.elements(); ++i) {
    const auto length = lengths.data<std::int32_t>()[i];
    batch.emplace_back(next, next + length);
    next += length;
  }
  return batch;
}

struct Golden {
  explicit Golden(const std::string& name_) : name(name_) {
    UniversalStackConfig stack{.vocabulary = 11};
    config.model_dim = 10;
    config.heads = 2;
    config.hidden_dim = 13;
    if (name == "five_steps") {
      stack.steps = 5;
      stack.embedding_scale = std::sqrt(10.0f);
    } else if (name == "from_zero_halves") {
      stack.steps = 3;
      config.first_position = config.first_step = 0;
      config.layout = SinusoidLayout::halves;
    } else if (name.starts_with("adaptive")) {
      stack.steps = name == "adaptive_cut_off" ? 2 : 6;
      stack.halting_threshold = 0.9f;
      if (name == "adaptive_copied") stack.halted_state = HaltedState::copied;
    }
    config.encoder = config.decoder = stack;
    config.decoder.vocabulary = 7;
  }

  Batch ids(const std::string& side) const {
    return unpacked(file.input(name, side + "_ids"), file.input(name, side + "_lengths"));
  }
  Tensor output(const std::string& part) const { return file.output(name, part); }
  std::vector<std::int32_t> integers(const std::string& part) const {
    const Tensor tensor = output(part);
    return {tensor.data<std::int32_t>(), tensor.data<std::int32_t>() + tensor.elements()};
  }

  GoldenLayer file{"universal_transformer"};
  std::string name;
  UniversalTransformerConfig config;
};

void expect_halting(const Golden& golden, const std::string& side, const DepthRecurrence::Result& result) {
  EXPECT_EQ(golden.integers(side + "_updates"), std::vector(result.updates.begin(), result.updates.end()));
  EXPECT_EQ(*std::ranges::max_element(result.updates), result.steps);
  const Tensor remainders = golden.output(side + "_remainders");
  for (std::size_t i = 0; i < result.remainders.size(); ++i) {
    EXPECT_NEAR(result.remainders[i], remainders.data<float>()[i], kTolerance);
  }
}

TEST(UniversalTransformer, IsWhatPyTorchGives) {
  for (const std::string& name : GoldenLayer("universal_transformer").cases()) {
    SCOPED_TRACE(name);
    const Golden golden(name);
    const WeightScope weights = golden.file.weights(name);
    UniversalSession session(std::make_shared<const UniversalTransformer>(golden.config, weights));
    const auto encoded = session.encode(golden.ids("source"));
    EXPECT_TRUE(near(golden.output("encoded"), encoded.hidden));
    expect_halting(golden, "encoder", encoded);
    const Tensor logits = session.forward(golden.ids("source"), golden.ids("target"));
    EXPECT_TRUE(near(golden.output("logits"), logits));
    EXPECT_TRUE(near(golden.output("hidden"), session.decoded().hidden));
    expect_halting(golden, "decoder", session.decoded());
  }
}

// Both in double precision; PyTorch's values are stored as float32.
TEST(UniversalTransformer, PyTorchAndTheFormulasAgree) {
  for (const std::string& name : GoldenLayer("universal_transformer").cases()) {
    const Golden golden(name);
    const Naive naive(golden.config, [&](const std::string& weight) { return golden.file.weight(name, weight); });
    std::vector<Matrix> logits;
    for (std::size_t i = 0; i < 3; ++i) {
      logits.push_back(naive.logits(golden.ids("source")[i], golden.ids("target")[i]));
    }
    EXPECT_TRUE(near(reference::stack(logits), golden.output("logits"), 1e-6)) << name;
  }
}

TEST(UniversalTransformer, PyTorchsPositionsHaltAtDifferentSteps) {
  for (const char* name : {"adaptive_transformed", "adaptive_copied"}) {
    std::vector<std::int32_t> updates = Golden(name).integers("encoder_updates");
    std::ranges::sort(updates);
    EXPECT_GE(std::unique(updates.begin(), updates.end()) - updates.begin(), 3);
  }
  EXPECT_FALSE(near(Golden("adaptive_transformed").output("logits"), Golden("adaptive_copied").output("logits")))
      << "these cases do not tell the two apart";
}

// Properties.

constexpr Sizes kMiddle{32, 2, 64};
constexpr int kSteps = 6;

struct Outcome {
  Tensor encoded;
  Tensor logits;
  std::vector<std::int32_t> updates;
};

Outcome run(const std::shared_ptr<const UniversalTransformer>& model, const Batch& source, const Batch& target,
            int threads = 1) {
  UniversalSession session(model, std::make_shared<ThreadTeam>(threads));
  Outcome outcome;
  outcome.encoded = copy_of(session.encode(source).hidden);
  outcome.logits = copy_of(session.forward(source, target));
  const auto updates = session.decoded().updates;
  outcome.updates.assign(updates.begin(), updates.end());
  return outcome;
}

TEST(UniversalTransformer, NumberOfThreadsDoesNotChangeABit) {
  for (const Loop loop : kLoops) {
    const auto config = config_for(kMiddle, loop, kSteps);
    const Outcome one = run(make_model(config), sources(), targets());
    const Outcome three = run(make_model(config, {.threads = 3}), sources(), targets(), 3);
    EXPECT_TRUE(same_bits(one.encoded, three.encoded));
    EXPECT_TRUE(same_bits(one.logits, three.logits));
  }
}

TEST(UniversalTransformer, BatchNeighboursDoNotChangeABitAlsoWhereTheyHaltLater) {
  for (const Loop loop : kLoops) {
    const auto model = make_model(config_for(kMiddle, loop, kSteps));
    const Outcome all = run(model, sources(), targets());
    if (loop != Loop::fixed) {
      EXPECT_LT(*std::ranges::min_element(all.updates), *std::ranges::max_element(all.updates));
    }
    Dim source_row = 0, target_row = 0;
    for (std::size_t i = 0; i < sources().size(); ++i) {
      const Outcome alone = run(model, {sources()[i]}, {targets()[i]});
      EXPECT_TRUE(same_bits(all.encoded.slice(source_row, alone.encoded.rows()), alone.encoded)) << i;
      EXPECT_TRUE(same_bits(all.logits.slice(target_row, alone.logits.rows()), alone.logits)) << i;
      source_row += alone.encoded.rows();
      target_row += alone.logits.rows();
    }
  }
}

// Gives each target `at_once` tokens at a time; those that end earlier are given tokens that do not count.
TEST(UniversalTransformer, DecodingATokenAtATimeIsTeacherForcingBitByBit) {
  for (const Precision precision : {Precision::float32, Precision::bfloat16, Precision::int8}) {
    for (const Loop loop : kLoops) {
      const auto model = make_model(config_for(kMiddle, loop, kSteps), {.precision = precision});
      const Outcome forced = run(model, sources(), targets());
      for (const int at_once : {1, 3}) {
        UniversalSession session(model);
        session.encode(sources());
        for (int first = 0; first < 8; first += at_once) {
          Batch tokens;
          for (const Ids& target : targets()) {
            tokens.emplace_back();
            for (int i = first; i < first + at_once; ++i) {
              const auto index = static_cast<std::size_t>(i);
              tokens.back().push_back(index < target.size() ? target[index] : 0);
            }
          }
          const Tensor logits = session.decode(tokens);
          EXPECT_EQ(session.decoded().steps, kSteps);
          Dim forced_row = 0;
          for (std::size_t s = 0; s < tokens.size(); ++s) {
            const int length = kTargetLengths[s];
            for (int i = first; i < std::min(first + at_once, length); ++i) {
              const auto row = static_cast<Dim>(s) * at_once + i - first;
              ASSERT_TRUE(same_bits(forced.logits.slice(forced_row + i, 1), logits.slice(row, 1)))
                  << to_string(precision) << ", target " << s << ", token " << i;
            }
            forced_row += length;
          }
        }
      }
    }
  }
}

TEST(UniversalTransformer, FutureTokensDoNotChangeThePast) {
  for (const Loop loop : kLoops) {
    const auto model = make_model(config_for(kMiddle, loop, kSteps));
    const Ids source = sources()[0], target = targets()[3];
    Ids other = target;
    for (std::size_t i = 4; i < other.size(); ++i) other[i] = (other[i] + 1) % kTargetVocabulary;
    const Outcome a = run(model, {source}, {target}), b = run(model, {source}, {other});
    EXPECT_TRUE(same_bits(a.logits.slice(0, 4), b.logits.slice(0, 4)));
    EXPECT_FALSE(same_bits(a.logits.slice(4, 1), b.logits.slice(4, 1)));
  }
}

TEST(UniversalTransformer, ASessionGivesTheSameBitsAgain) {
  for (const Loop loop : kLoops) {
    const auto model = make_model(config_for(kMiddle, loop, kSteps));
    const Outcome expected = run(model, sources(), targets());
    UniversalSession session(model);
    session.forward({{Ids{1, 2}, Ids{3}}}, {{Ids{4, 5, 6}, Ids{7}}});
    session.encode({{Ids{1, 2}}});
    session.decode({{Ids{1}}});
    EXPECT_TRUE(same_bits(expected.logits, session.forward(sources(), targets())));
  }
}

TEST(UniversalSession, ARefusedTokenLeavesTheTargetsAsTheyWere) {
  const auto model = make_model(config_for(kMiddle, Loop::transformed, kSteps));
  const Batch source = {sources()[0], sources()[1]}, first = {{1, 2}, {3}}, then = {{4}, {5, 6}};
  UniversalSession session(model);
  session.encode(source);
  session.decode(first);
  const Tensor expected = copy_of(session.decode(then));
  session.encode(source);
  session.decode(first);
  EXPECT_THROW(session.decode({{Ids{4}, Ids{5, kTargetVocabulary}}}), InputError);
  EXPECT_THROW(session.decode({{Ids{4}}}), InputError);
  EXPECT_TRUE(same_bits(expected, session.decode(then)));
}

TEST(UniversalSession, AllocatesNothingAfterTheFirstBatches) {
  for (const Loop loop : kLoops) {
    UniversalSession session(make_model(config_for(kMiddle, loop, kSteps)));
    const Batch source = sources(), target = targets(), token(source.size(), Ids{1});
    int fewest = std::numeric_limits<int>::max();
    for (int round = 0; round < 10; ++round) {
      const AllocationWatch watch;
      session.forward(source, target);
      session.encode(source);
      for (int step = 0; step < 4; ++step) session.decode(token);
      fewest = std::min(fewest, watch.count());
    }
    EXPECT_EQ(fewest, 0);
  }
}

TEST(UniversalTransformer, TheLoopEndsWhenAllPositionsHaveHalted) {
  UniversalTransformerConfig config = config_for(kMiddle, Loop::transformed, 40);
  UniversalSession session(make_model(config));
  const auto encoded = session.encode(sources());
  EXPECT_EQ(encoded.steps, *std::ranges::max_element(encoded.updates));
  EXPECT_LT(encoded.steps, 40);
  config = config_for(kMiddle, Loop::fixed, 7);
  UniversalSession fixed(make_model(config));
  EXPECT_EQ(fixed.encode(sources()).steps, 7);
}

TEST(UniversalTransformer, TakesAllItsWeightsAndNoOthers) {
  const auto config = config_for(kMiddle, Loop::transformed, 2);
  const Weights weights = weights_for(config);
  const WeightScope scope = make_scope(weights);
  EXPECT_NO_THROW(UniversalTransformer(config, scope));
  EXPECT_TRUE(scope.unused().empty()) << testing::PrintToString(scope.unused());
  for (const auto& [name, tensor] : weights) {
    Weights fewer = weights;
    fewer.erase(name);
    if (name == "output_projection.bias") {
      EXPECT_NO_THROW(UniversalTransformer(config, make_scope(fewer)));
      continue;
    }
    try {
      UniversalTransformer(config, make_scope(fewer));
      ADD_FAILURE() << "no exception without " << name;
    } catch (const WeightError& error) {
      EXPECT_NE(std::string(error.what()).find("'" + name + "' is missing"), std::string::npos) << error.what();
    }
  }
}

std::string message_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "no exception";
}

TEST(UniversalTransformer, RefusesConfigurationsThatContradictThemselves) {
  const auto refusal = [](const std::function<void(UniversalTransformerConfig&)>& change) {
    UniversalTransformerConfig config = config_for(kMiddle, Loop::transformed, 2);
    change(config);
    return message_of([&] { make_model(config); });
  };
  EXPECT_EQ(refusal([](auto& c) { c.encoder.steps = 0; }), "encoder: 0 steps, expected 1 to 1024");
  EXPECT_EQ(refusal([](auto& c) { c.decoder.halting_threshold = 1.0f; }),
            "decoder: halting threshold 1, expected more than 0 and less than 1");
  EXPECT_EQ(refusal([](auto& c) { c.first_step = -1; }), "first position 1, first step -1, expected 0 to 1048576");
}

TEST(UniversalSession, RefusesInputsThatDoNotFit) {
  const auto model = make_model(config_for(kMiddle, Loop::fixed, 2));
  UniversalSession session(model);
  const auto forward = [&](const Batch& source, const Batch& target) {
    return message_of([&] { session.forward(source, target); });
  };
  EXPECT_EQ(forward({}, {}), "no sources, expected at least 1");
  EXPECT_EQ(forward({{1}, {}}, {{1}, {1}}), "source 2 of 2: no tokens, expected at least 1");
  EXPECT_EQ(forward({{1}}, {{}}), "target 1 of 1: no tokens, expected at least 1");
  EXPECT_EQ(forward({{1}}, {{1}, {2}}),
            "2 targets, expected 1, one for each source that encode() has read; forward() leaves none");
  EXPECT_EQ(forward({{kSourceVocabulary}}, {{1}}), "token id 23, expected 0 to 22 (vocabulary size 23)");
  EXPECT_EQ(forward({{1}}, {{-1}}), "token id -1, expected 0 to 16 (vocabulary size 17)");
  EXPECT_EQ(forward({{1}}, {{1}}), "no exception");
  EXPECT_EQ(message_of([&] { session.decode({{Ids{1}}}); }),
            "1 targets, expected 0, one for each source that encode() has read; forward() leaves none")
      << "forward() leaves no target to go on with";
}

}  // namespace
}  // namespace encdec
