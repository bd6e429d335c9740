#include "encdec/models/families/name_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace encdec {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(NamesByTable, InsertTheLayerNumber) {
  const auto names =
      names_by_table({{"encoder.*.self_attention.query", {"layers.*.q", "blocks.*.query"}}, {"encoder.norm", {"ln"}}});
  EXPECT_THAT(names("encoder.12.self_attention.query.weight"),
              ElementsAre("layers.12.q.weight", "blocks.12.query.weight"));
  EXPECT_THAT(names_by_table({{"decoder.*.norm", {"decoder_l*+1_norm"}}})("decoder.9.norm.bias"),
              ElementsAre("decoder_l10_norm.bias"));
  EXPECT_THAT(names("encoder.norm.bias"), ElementsAre("ln.bias"));
  EXPECT_THAT(names("encoder.normal.bias"), IsEmpty());
  EXPECT_THAT(names("encoder.1.self_attention.queryx"), IsEmpty());
}

TEST(NamesByTable, InsertTheSide) {
  const auto names = names_by_table({{"%.*.norm", {"model.%.layers.*.ln"}}, {"%.norm", {"%_top", "top"}}});
  EXPECT_THAT(names("encoder.3.norm.bias"), ElementsAre("model.encoder.layers.3.ln.bias"));
  EXPECT_THAT(names("decoder.0.norm.bias"), ElementsAre("model.decoder.layers.0.ln.bias"));
  EXPECT_THAT(names("decoder.norm.weight"), ElementsAre("decoder_top.weight", "top.weight"));
  EXPECT_THAT(names("output_projection.norm.weight"), IsEmpty());
}

TEST(WithoutMissingPrefix, RemovesAPrefixThatNoTensorHas) {
  const WeightNames names = names_by_table({{"a", {"x", "bert.y"}}});
  WeightStore weights("test");
  weights.add("berta", Tensor());
  weights.add("y.weight", Tensor());
  EXPECT_THAT(without_missing_prefix("bert.", weights, names)("a.weight"), ElementsAre("x.weight", "y.weight"));
  weights.add("bert.y.weight", Tensor());
  EXPECT_THAT(without_missing_prefix("bert.", weights, names)("a.weight"), ElementsAre("x.weight", "bert.y.weight"));
}

TEST(WithGammaAndBeta, NormsAlsoHaveTheirOldNames) {
  const auto names = with_gamma_and_beta(names_by_table({{"a", {"LayerNorm"}}, {"b", {"dense"}}}));
  EXPECT_THAT(names("a.weight"), ElementsAre("LayerNorm.weight", "LayerNorm.gamma"));
  EXPECT_THAT(names("a.bias"), ElementsAre("LayerNorm.bias", "LayerNorm.beta"));
  EXPECT_THAT(names("b.weight"), ElementsAre("dense.weight"));
}

}  // namespace
}  // namespace encdec
