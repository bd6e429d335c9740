#include "encdec/models/tokenizer/pipeline/post_processor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace encdec {
namespace {

using testing::ElementsAre;
using Kind = PostProcessor::Part::Kind;
using Ids = std::vector<std::int32_t>;

TEST(PostProcessor, ByDefaultNothingIsAdded) {
  const PostProcessor processor;
  EXPECT_THAT(PostProcessor::apply(processor.single, Ids{1, 2}, {}), ElementsAre(1, 2));
  EXPECT_THAT(PostProcessor::apply(processor.pair, Ids{1, 2}, Ids{3}), ElementsAre(1, 2, 3));
  EXPECT_EQ(PostProcessor::added(processor.pair), 0u);
}

TEST(PostProcessor, TemplatesPutIdsAroundTexts) {
  const PostProcessor::Template form = {
      {.ids = {7}}, {.kind = Kind::second_text}, {.ids = {8, 9}}, {.kind = Kind::first_text}};
  EXPECT_THAT(PostProcessor::apply(form, Ids{1, 2}, Ids{3}), ElementsAre(7, 3, 8, 9, 1, 2));
  EXPECT_EQ(PostProcessor::added(form), 3u);
  EXPECT_THAT(PostProcessor::apply(PostProcessor::around_one({.before = {4}, .after = {5, 6}}), Ids{1}, {}),
              ElementsAre(4, 1, 5, 6));
}

}  // namespace
}  // namespace encdec
