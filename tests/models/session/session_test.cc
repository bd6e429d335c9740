#include "encdec/models/session/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "encdec/models/checkpoint/checkpoint.h"
#include "encdec/models/families/model_description.h"
#include "encdec/models/network/vocabulary_shortlist.h"
#include "tests/models/model_cases.h"
#include "tests/support/comparison.h"
#include "tests/support/layer_runner.h"

namespace encdec::model_cases {
namespace {

using testing::HasSubstr;

const std::filesystem::path kMarian = kMarianCases / "shared_swish" / "model";
const std::array<TokenIds, 3> kSources = {{{1, 2, 3, 4, 5, 6, 7}, {9}, {20, 21, 22}}};
const TokenIds kTarget = {28, 3, 7, 7, 12, 1, 19, 2, 25, 4, 6};

Session session_of(const std::filesystem::path& folder) {
  const Checkpoint checkpoint = open_checkpoint(folder);
  const ModelDescription description = describe_model(checkpoint);
  return {std::make_shared<const Transformer>(description.config,
                                              WeightScope(checkpoint.weights, description.weight_names)),
          std::make_shared<ThreadTeam>()};
}

// A session of the Marian model with all of kSources open.
struct Opened {
  Opened() : session(session_of(kMarian)) {
    const auto opened = session.encode(kSources).sources;
    sources.assign(opened.begin(), opened.end());
  }

  // Appends tokens to a target. Returns the logits after the last one.
  Tensor decode(int target, std::span<const std::int32_t> tokens, const VocabularyShortlist* shortlist = nullptr) {
    const Session::TargetTokens input{.target = target, .tokens = tokens, .shortlist = shortlist};
    return copy_of(session.decode({&input, 1}));
  }
  // Returns the logits of a new target with these tokens, which is closed again.
  Tensor logits_of(std::size_t source, std::span<const std::int32_t> tokens,
                   const VocabularyShortlist* shortlist = nullptr) {
    const int target = session.open_target(sources[source]);
    const Tensor logits = decode(target, tokens, shortlist);
    session.close_target(target);
    return logits;
  }

  Session session;
  std::vector<int> sources;
};

TEST(Session, TokensAtOnceOrOneByOneGiveTheSameBits) {
  Opened opened;
  const int whole = opened.session.open_target(opened.sources[0]),
            single = opened.session.open_target(opened.sources[0]);
  const Session::TargetTokens all{whole, kTarget, Session::TargetTokens::kAll};
  const Tensor at_once = copy_of(opened.session.decode({&all, 1}));
  ASSERT_EQ(at_once.shape(), (Shape{static_cast<Dim>(kTarget.size()), 29}));
  for (std::size_t i = 0; i < kTarget.size(); ++i) {
    const Tensor one = opened.decode(single, std::span(kTarget).subspan(i, 1));
    EXPECT_TRUE(same_bits(at_once.slice(static_cast<Dim>(i), 1), one)) << i;
  }
  EXPECT_TRUE(same_bits(at_once.slice(10, 1), opened.logits_of(0, kTarget))) << "of the last token only";
}

TEST(Session, ATokenThatDoesNotFitFailsAlone) {
  Opened opened;
  const int good = opened.session.open_target(opened.sources[0]), bad = opened.session.open_target(opened.sources[1]);
  opened.decode(good, std::span(kTarget).first(2));
  for (const std::int32_t token : {-1, 29}) {
    EXPECT_THAT(message_of([&] { opened.decode(bad, TokenIds{3, token}); }), HasSubstr("expected 0 to 28"));
  }
  opened.session.close_target(bad);
  EXPECT_TRUE(same_bits(opened.logits_of(0, kTarget), opened.decode(good, std::span(kTarget).subspan(2))));
}

TEST(Session, AShortlistLeavesOnlyItsTokens) {
  Opened opened;
  const Tensor all = opened.logits_of(0, kTarget);
  const VocabularyShortlist shortlist(opened.session.model(), {20, 3, 4});
  const Tensor few = opened.logits_of(0, kTarget, &shortlist);
  for (int token = 0; token < 29; ++token) {
    const bool is_listed = token == 3 || token == 4 || token == 20;
    EXPECT_EQ(few.row(0)[token], is_listed ? all.row(0)[token] : -INFINITY) << token;
  }
  EXPECT_TRUE(same_bits(all, opened.logits_of(0, kTarget)));
}

TEST(Session, TheAttentionToTheSourceIsADistribution) {
  Opened opened;
  opened.session.set_source_attention(Session::SourceAttention::keep);
  for (std::size_t i = 0; i < kSources.size(); ++i) {
    opened.logits_of(i, kTarget);
    const std::span<const float> attention = opened.session.source_attention(0);
    ASSERT_EQ(attention.size(), kSources[i].size());
    double sum = 0;
    for (const float weight : attention) sum += weight;
    EXPECT_NEAR(sum, 1, 1e-6);
  }
}

TEST(Session, FramesOfAnotherShapeAreRefused) {
  Session session = session_of(std::filesystem::path(ENCDEC_GOLDEN_DIR) / "whisper_formats/hugging_face");
  const FrameOptions& options = session.model().config.encoder.frames;
  const Dim bands = options.width, per_row = options.per_row;
  const Tensor good = Tensor::allocate({4 * per_row, bands});
  const auto encode = [&](const Tensor& frames) {
    return message_of([&] { session.encode(std::vector<Tensor>{good, frames}); });
  };
  EXPECT_THAT(encode({}), HasSubstr("frames of shape nothing, expected"));
  for (const Tensor& frames :
       {Tensor::allocate({0, bands}), Tensor::allocate({per_row, bands + 1}), Tensor::allocate({per_row + 1, bands}),
        Tensor::allocate({per_row * bands}), Tensor::allocate({per_row, bands}, DataType::int32)}) {
    EXPECT_THAT(encode(frames), HasSubstr("expected"));
  }
  EXPECT_EQ(encode(good), "no exception");
}

TEST(Session, ASourceWithoutTokensIsRefused) {
  Session session = session_of(kMarianCases / "shared_swish" / "model");
  EXPECT_THAT(message_of([&] { session.encode(std::vector<TokenIds>{{1}, {}}); }), HasSubstr("without tokens"));
  EXPECT_EQ(message_of([&] { session.encode(std::vector<TokenIds>{{1}, {2}}); }), "no exception");
}

}  // namespace
}  // namespace encdec::model_cases
