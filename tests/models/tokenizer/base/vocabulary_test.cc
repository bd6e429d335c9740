#include "encdec/models/tokenizer/base/vocabulary.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/message_of.h"

namespace encdec {
namespace {

using testing::HasSubstr;

TEST(Vocabulary, FindsPiecesAndIds) {
  const auto vocabulary = Vocabulary::parse(R"({"</s>": 0, "▁a": 7, "": 9999999, "\u00e9": 2})", "vocab.json");
  EXPECT_EQ(vocabulary.size(), 4u);
  EXPECT_EQ(vocabulary.id("▁a"), 7);
  EXPECT_EQ(vocabulary.id("é"), 2);
  EXPECT_EQ(vocabulary.id(""), 9999999);
  EXPECT_EQ(vocabulary.id("a"), std::nullopt);
  EXPECT_EQ(vocabulary.piece(0), "</s>");
  EXPECT_EQ(vocabulary.piece(1), std::nullopt);
  EXPECT_EQ(vocabulary.piece(-1), std::nullopt);
}

TEST(Vocabulary, KeepsItsPiecesWhenMoved) {
  auto first = Vocabulary::parse(R"({"a": 0, "b": 1})", "vocab.json");
  const Vocabulary second = std::move(first);
  EXPECT_EQ(second.piece(1), "b");
}

TEST(Vocabulary, FindsEachOfManyPiecesAndIds) {
  Vocabulary vocabulary;
  for (std::int32_t i = 0; i < 20'000; ++i) vocabulary.add(std::to_string(i), 3 * i, "vocab.json");
  for (std::int32_t i = 0; i < 20'000; ++i) {
    ASSERT_EQ(vocabulary.id(std::to_string(i)), 3 * i);
    ASSERT_EQ(vocabulary.piece(3 * i), std::to_string(i));
    ASSERT_EQ(vocabulary.piece(3 * i + 1), std::nullopt);
  }
  EXPECT_EQ(vocabulary.entries()[7].piece(), "7");
  EXPECT_EQ(Vocabulary().id("7"), std::nullopt);
  EXPECT_EQ(Vocabulary().piece(7), std::nullopt);
}

TEST(Vocabulary, HasAtMostAMillionPieces) {
  std::string json = "{";
  for (std::int32_t i = 0; i <= 1'000'000; ++i) json += fmt::format("{}\"{:x}\":{}", i == 0 ? "" : ",", i, i);
  EXPECT_EQ(message_of([&] { Vocabulary::parse(json + "}", "vocab.json"); }), "vocab.json: more than 1000000 pieces");
}

TEST(Vocabulary, DamagedFilesAreRefusedByName) {
  const std::pair<const char*, const char*> kCases[] = {
      {"", "not valid JSON"},
      {R"({"a": 0)", "not valid JSON"},
      {R"({"a": 0} {})", "not valid JSON"},
      {"{\"\xFF\": 0}", "not valid JSON"},
      {"[]", "an array, expected an object of pieces and ids"},
      {"7", "7, expected an object of pieces and ids"},
      {R"({"a": {"b": 1}})", "'a' is an object, expected an id from 0 to 9999999"},
      {R"({"a": [1]})", "'a' is an array, expected an id"},
      {R"({"a": "1"})", "'a' is a string, expected an id"},
      {R"({"a": null})", "'a' is null, expected an id"},
      {R"({"a": true})", "'a' is boolean, expected an id"},
      {R"({"a": -1})", "'a' is -1, expected an id"},
      {R"({"a": 1.0})", "'a' is 1, expected an id"},
      {R"({"a": 10000000})", "'a' is 10000000, expected an id"},
      {R"({"a": 18446744073709551615})", "'a' is 18446744073709551615, expected an id"},
      {R"({"a": 1, "b": 2, "a": 3})", "'a' is there twice"},
      {R"({"▁new\nline": 1, "b": 1})", "'\\u2581new\\nline' and 'b' both have the id 1"}};
  for (const auto& [json, found] : kCases) {
    EXPECT_THAT(refusal_of<Error>("x/vocab.json: ", [&] { Vocabulary::parse(json, "x/vocab.json"); }),
                HasSubstr(found));
  }
}

}  // namespace
}  // namespace encdec
