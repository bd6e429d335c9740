#include "encdec/models/session/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "encdec/models/checkpoint/checkpoint.h"
#include "encdec/models/families/model_description.h"
#include "tests/models/model_cases.h"

namespace encdec::model_cases {
namespace {

using testing::HasSubstr;

Session session_of(const std::filesystem::path& folder) {
  const Checkpoint checkpoint = open_checkpoint(folder);
  const ModelDescription description = describe_model(checkpoint);
  return {std::make_shared<const Transformer>(description.config,
                                              WeightScope(checkpoint.weights, description.weight_names)),
          std::make_shared<ThreadTeam>(1)};
}

TEST(Session, FramesOfAnotherShapeAreRefused) {
  Session session = session_of(std::filesystem::path(ENCDEC_GOLDEN_DIR) / "whisper_formats/hugging_face");
  const auto [bands, per_row] = session.model().config.encoder.frames;
  const Tensor good = Tensor::allocate({4 * per_row, bands});
  const auto encode = [&](const Tensor& frames) {
    return failure([&] { session.encode(std::vector<Tensor>{good, frames}); });
  };
  EXPECT_THAT(encode({}), HasSubstr("frames of shape nothing, expected"));
  EXPECT_THAT(encode(Tensor::allocate({0, bands})), HasSubstr("expected"));
  EXPECT_THAT(encode(Tensor::allocate({per_row, bands + 1})), HasSubstr("expected"));
  EXPECT_THAT(encode(Tensor::allocate({per_row + 1, bands})), HasSubstr("expected"));
  EXPECT_THAT(encode(Tensor::allocate({per_row * bands})), HasSubstr("expected"));
  EXPECT_THAT(encode(Tensor::allocate({per_row, bands}, DataType::int32)), HasSubstr("expected"));
  EXPECT_EQ(encode(good), "no error");
}

TEST(Session, ASourceWithoutTokensIsRefused) {
  Session session = session_of(kMarianCases / "shared_swish" / "model");
  EXPECT_THAT(failure([&] { session.encode(std::vector<TokenIds>{{1}, {}}); }), HasSubstr("without tokens"));
  EXPECT_EQ(failure([&] { session.encode(std::vector<TokenIds>{{1}, {2}}); }), "no error");
}

}  // namespace
}  // namespace encdec::model_cases
