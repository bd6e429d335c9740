// Tests properties of Universal Transformers, and the errors of their sessions.
#include "universal_transformer/universal_session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "encdec/engine/base/error.h"
#include "tests/layers/attention_fixture.h"
#include "tests/support/allocation_watch.h"
#include "tests/support/comparison.h"
#include "tests/support/layer_runner.h"
#include "tests/support/message_of.h"
#include "universal_cases.h"

namespace lessons::universal {
namespace {

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

TEST(UniversalTransformer, BatchNeighboursThatHaltLaterDoNotChangeABit) {
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

// Decodes `at_once` tokens of each target at a time. Targets that end earlier get further tokens, whose results are
// ignored.
TEST(UniversalTransformer, DecodingTokenByTokenEqualsTeacherForcingBitByBit) {
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

TEST(UniversalSession, ARefusedTokenLeavesTheTargetsUnchanged) {
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

TEST(UniversalTransformer, ReadsAllItsWeightsAndNoOthers) {
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

TEST(UniversalTransformer, RefusesContradictoryConfigurations) {
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
}  // namespace lessons::universal
