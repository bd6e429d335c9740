#include "encdec/models/tokenizer/pipeline/bpe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "encdec/engine/base/error.h"

namespace encdec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Ids = std::vector<std::int32_t>;

Vocabulary vocabulary(const std::vector<std::string>& pieces) {
  Vocabulary result;
  for (const std::string& piece : pieces) result.add(piece, static_cast<std::int32_t>(result.size()), "file");
  return result;
}

Ids tokenize(const Bpe& model, std::string_view word) {
  Ids ids;
  model.tokenize(word, ids);
  return ids;
}

TEST(Bpe, EarlierMergesComeFirstAndLeftmostOfEqualOnes) {
  const Bpe model(
      {.vocabulary = vocabulary({"a", "b", "c", "ab", "bc", "aa"}), .merges = {{"b", "c"}, {"a", "b"}, {"a", "a"}}},
      "file");
  EXPECT_THAT(tokenize(model, "abc"), ElementsAre(0, 4));
  EXPECT_THAT(tokenize(model, "aaa"), ElementsAre(5, 0));
  EXPECT_THAT(tokenize(model, "abab"), ElementsAre(3, 3));
  EXPECT_THAT(tokenize(model, ""), ElementsAre());
}

TEST(Bpe, UnknownCharactersAreOneOrManyOrNone) {
  const auto model = [](bool fuse, std::optional<std::string> unknown) {
    return Bpe({.vocabulary = vocabulary({"<unk>", "a"}), .merges = {}, .unknown_token = unknown, .fuse_unknown = fuse},
               "file");
  };
  EXPECT_THAT(tokenize(model(false, "<unk>"), "xyaz"), ElementsAre(0, 0, 1, 0));
  EXPECT_THAT(tokenize(model(true, "<unk>"), "xyaz"), ElementsAre(0, 1, 0));
  EXPECT_THAT(tokenize(model(true, std::nullopt), "xyaz"), ElementsAre(1));
  EXPECT_THROW(tokenize(model(true, "[UNK]"), "x"), TokenizerError);
  EXPECT_THAT(tokenize(model(true, "[UNK]"), "a"), ElementsAre(1));
}

TEST(Bpe, BytesStandForUnknownCharactersIfAllExist) {
  const Bpe model({.vocabulary = vocabulary({"<unk>", "a", "<0xC3>", "<0xA9>"}),
                   .merges = {},
                   .unknown_token = "<unk>",
                   .byte_fallback = true},
                  "file");
  EXPECT_THAT(tokenize(model, "aé"), ElementsAre(1, 2, 3));
  EXPECT_THAT(tokenize(model, "aè"), ElementsAre(1, 0));
}

TEST(Bpe, PrefixAndSuffixBelongToPieces) {
  const Bpe model({.vocabulary = vocabulary({"a", "##b", "##c</w>", "ab", "abc</w>", "a</w>"}),
                   .merges = {{"a", "##b"}, {"ab", "##c</w>"}},
                   .continuing_subword_prefix = "##",
                   .end_of_word_suffix = "</w>"},
                  "file");
  EXPECT_THAT(tokenize(model, "abc"), ElementsAre(4));
  EXPECT_THAT(tokenize(model, "a"), ElementsAre(5));
}

TEST(Bpe, WholeWordsNeedNoMergesIfAskedFor) {
  const auto model = [](bool ignore) {
    return Bpe({.vocabulary = vocabulary({"a", "b", "ab"}), .merges = {}, .ignore_merges = ignore}, "file");
  };
  EXPECT_THAT(tokenize(model(true), "ab"), ElementsAre(2));
  EXPECT_THAT(tokenize(model(true), "aba"), ElementsAre(0, 1, 0));
  EXPECT_THAT(tokenize(model(false), "ab"), ElementsAre(0, 1));
}

TEST(Bpe, MergesOfUnknownPiecesAreRefused) {
  const auto build = [](std::string left, std::string right, std::string prefix) {
    return Bpe({.vocabulary = vocabulary({"a", "b", "ab", "c"}),
                .merges = {{"a", "b"}, {std::move(left), std::move(right)}},
                .continuing_subword_prefix = std::move(prefix)},
               "file: model");
  };
  const auto message = [&](const char* left, const char* right, const char* prefix = "") -> std::string {
    try {
      build(left, right, prefix);
    } catch (const TokenizerError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message("x", "b"), HasSubstr("file: model: merge 1 of 'x' and 'b': 'x' is not in the vocabulary"));
  EXPECT_THAT(message("a", "x"), HasSubstr("'x' is not in the vocabulary"));
  EXPECT_THAT(message("a", "c"), HasSubstr("'ac' is not in the vocabulary"));
  EXPECT_THAT(message("a", "b", "##"), HasSubstr("shorter than the prefix"));
  EXPECT_EQ(message("a", "b"), "");
}

TEST(Bpe, WordsOfAMillionCharactersAreMerged) {
  const Bpe model({.vocabulary = vocabulary({"a", "aa", "aaaa"}), .merges = {{"a", "a"}, {"aa", "aa"}}}, "file");
  EXPECT_EQ(tokenize(model, std::string(1'000'000, 'a')), Ids(250'000, 2));
}

}  // namespace
}  // namespace encdec
