#include "encdec/models/tokenizer/pipeline/pipeline_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "encdec/engine/base/error.h"
#include "encdec/models/tokenizer/pipeline/piece_model.h"

namespace encdec {
namespace {

using testing::ElementsAre;
using Ids = std::vector<std::int32_t>;

PipelineParts parts() {
  Vocabulary vocabulary;
  for (const char* piece : {"<unk>", "a", "b", "c"}) {
    vocabulary.add(piece, static_cast<std::int32_t>(vocabulary.size()), "file");
  }
  return {.kind = "word-level",
          .model = piece_models::word_level({.vocabulary = std::move(vocabulary)}, "file"),
          .pre_tokenizer = pre_tokenizers::whitespace_split(),
          .added_tokens = {{.content = "</s>", .normalized = false, .special = true},
                           {.content = "<en>", .normalized = false, .special = true}},
          .affixes = {.after = {4}}};
}

TEST(PipelineTokenizer, EncodesAndDecodes) {
  const auto tokenizer = pipeline_tokenizer(parts(), "file");
  EXPECT_EQ(tokenizer->kind(), "word-level");
  EXPECT_THAT(tokenizer->encode("a x</s>b"), ElementsAre(1, 0, 4, 2, 4));
  EXPECT_THAT(tokenizer->encode_target("a"), ElementsAre(1, 4));
  EXPECT_THAT(tokenizer->encode(""), ElementsAre(4));
  EXPECT_EQ(tokenizer->decode(Ids{1, 0, 4, 2}), "a <unk> b");
  EXPECT_THAT(tokenizer->pieces(Ids{1, 4}, TextSide::target), ElementsAre("a", "</s>"));
  EXPECT_EQ(tokenizer->token_id("c"), 3);
  EXPECT_EQ(tokenizer->token_id("<en>"), 5);
  EXPECT_EQ(tokenizer->token_id("d"), std::nullopt);
}

TEST(PipelineTokenizer, CutsTheTextToMaxLengthAndKeepsWhatSurroundsIt) {
  const auto tokenizer = pipeline_tokenizer(parts(), "file");
  EXPECT_THAT(tokenizer->encode("a b c", {.max_length = 3}), ElementsAre(1, 2, 4));
  EXPECT_THAT(tokenizer->encode("a b c", {.max_length = 4}), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(tokenizer->encode("a b c", {.max_length = 1}), ElementsAre(4));
}

TEST(PipelineTokenizer, RefusesUnknownIdsAndLanguages) {
  const auto tokenizer = pipeline_tokenizer(parts(), "file");
  EXPECT_THROW(tokenizer->decode(Ids{6}), InputError);
  EXPECT_THROW(tokenizer->decode(Ids{-1}), InputError);
  EXPECT_EQ(decode_known(*tokenizer, Ids{6, 1, -1, 0}), tokenizer->decode(Ids{1, 0}));
  EXPECT_THROW(tokenizer->pieces(Ids{6}, TextSide::source), InputError);
  EXPECT_THROW(tokenizer->encode("a\xFF"), TokenizerError);
  EXPECT_THROW(tokenizer->encode("a", {.target_language = "en"}), InputError);
}

TEST(PipelineTokenizer, AFamilyPutsLanguagesAroundTheText) {
  PipelineParts made = parts();
  made.languages = {{"en", 5}};
  made.language_affixes = [](const EncodeOptions& options, TextSide side) -> Affixes {
    if (side == TextSide::target) return {.before = {5}, .after = {}};
    return {.before = {}, .after = options.source_language.empty() ? Ids{4} : Ids{4, 5}};
  };
  const auto tokenizer = pipeline_tokenizer(std::move(made), "file");
  EXPECT_THAT(tokenizer->encode("a"), ElementsAre(1, 4));
  EXPECT_THAT(tokenizer->encode("a", {.source_language = "en"}), ElementsAre(1, 4, 5));
  EXPECT_THAT(tokenizer->encode_target("a"), ElementsAre(5, 1));
  EXPECT_THAT(tokenizer->languages(), ElementsAre("en"));
  EXPECT_EQ(tokenizer->language_token("en"), 5);
  EXPECT_EQ(tokenizer->language_token("fr"), std::nullopt);
}

TEST(PipelineTokenizer, SpecialTokensInATextCanBeReadAsText) {
  PipelineParts made = parts();
  made.split_special_tokens = true;
  EXPECT_THAT(pipeline_tokenizer(std::move(made), "file")->encode("</s> a"), ElementsAre(0, 1, 4));
}

}  // namespace
}  // namespace encdec
