#include "encdec/models/tokenizer/pipeline/word_level.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "encdec/engine/base/error.h"

namespace encdec {
namespace {

TEST(WordLevel, WordsAreKnownOrUnknown) {
  Vocabulary vocabulary;
  vocabulary.add("<unk>", 3, "file");
  vocabulary.add("a", 5, "file");
  const WordLevel model({.vocabulary = std::move(vocabulary)}, "file");
  std::vector<std::int32_t> ids;
  model.tokenize("a", ids);
  model.tokenize("b", ids);
  EXPECT_THAT(ids, testing::ElementsAre(5, 3));
  EXPECT_EQ(*model.piece(5), "a");
  EXPECT_EQ(model.piece(4), nullptr);
}

TEST(WordLevel, WithoutUnknownPieceUnknownWordsAreAnError) {
  const WordLevel model({.vocabulary = {}, .unknown_token = "?"}, "file: model");
  std::vector<std::int32_t> ids;
  EXPECT_THROW(model.tokenize("b", ids), TokenizerError);
}

}  // namespace
}  // namespace encdec
