#include "encdec/models/speech/transcript/chunk_joining.h"

#include <gtest/gtest.h>

#include "tests/models/speech/transcript/word_golden.h"

namespace encdec {
namespace {

using Tokens = std::vector<std::int32_t>;
constexpr std::int32_t kEnd = 100, kTimes = 200;
constexpr JoiningIds kIds{.end_of_text = kEnd, .first_timestamp = kTimes};

std::int32_t at(double seconds) {
  return kTimes + static_cast<std::int32_t>(seconds * 50 + 0.5);
}

TEST(ChunkJoining, SequencesAreJoinedInTheMiddleOfTheirOverlap) {
  const auto joined = [](std::vector<Tokens> sequences) { return join_sequences(sequences); };
  EXPECT_EQ(joined({{1, 2, 3, 4, 5}, {4, 5, 6, 7}}), (Tokens{1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(joined({{1, 2, 3, 9, 5, 6}, {3, 4, 5, 6, 7}}), (Tokens{1, 2, 3, 9, 5, 6, 7})) << "most is equal";
  EXPECT_EQ(joined({{1, 2, 3}, {3, 4, 5}}), (Tokens{1, 2, 3, 3, 4, 5})) << "one is not enough";
  EXPECT_EQ(joined({{1, 2}, {}, {3}}), (Tokens{1, 2, 3}));
  EXPECT_EQ(joined({{1, 2, 3}, {2, 3, 4, 5}, {4, 5, 6}}), (Tokens{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(joined({}), Tokens{});
}

TEST(ChunkJoining, TimesInAnOverlapDoNotSplitTexts) {
  const std::vector<TranscribedChunk> chunks = {
      {.tokens = {at(0), 1, 2, at(4), at(4), 3, 4, 5, at(9)}, .seconds = 10, .right = 2},
      {.tokens = {at(0), 4, 5, 6, at(3), at(3), 7, at(6)}, .seconds = 10, .left = 2},
  };
  const std::vector<JoinedText> texts = join_chunks(chunks, kIds);
  ASSERT_EQ(texts.size(), 3u);
  EXPECT_EQ(texts[0].tokens, (Tokens{1, 2}));
  EXPECT_EQ(texts[1].tokens, (Tokens{3, 4, 5, 6}));
  EXPECT_EQ(texts[1].start, 4);
  EXPECT_EQ(texts[1].end, 9) << "3 s into the second, which begins at 6 s";
  EXPECT_EQ(texts[1].chunk, 1u);
  EXPECT_EQ(texts[2].start, 9);
  EXPECT_EQ(texts[2].end, 12);
}

TEST(ChunkJoining, TimesThatGoBackBelongToTheNextWindow) {
  // A pair of times at the end of the first window gives the beginning of the second window. A single time there means
  // that the first window was transcribed to its end.
  const TranscribedChunk pair{.tokens = {at(0), 1, at(4), at(4), at(0), 2, at(3)}, .seconds = 30};
  EXPECT_EQ(join_chunks(std::vector{pair}, kIds)[1].end, 7);
  const TranscribedChunk single{.tokens = {at(0), 1, at(4), at(0), 2, at(3)}, .seconds = 60};
  const auto texts = join_chunks(std::vector{single}, kIds);
  EXPECT_EQ(texts[1].start, 30);
  EXPECT_EQ(texts[1].end, 33);
}

TEST(ChunkJoining, MatchesTransformers) {
  for (const auto& golden : golden_speech("chunk_joining")) {
    std::vector<TranscribedChunk> chunks;
    for (const auto& chunk : golden.at("chunks")) {
      chunks.push_back({chunk.at("tokens").get<Tokens>(), chunk.at("seconds"), chunk.at("left"), chunk.at("right")});
    }
    const std::vector<JoinedText> texts = join_chunks(chunks, {.end_of_text = 100, .first_timestamp = 120});
    ASSERT_EQ(texts.size(), golden.at("texts").size());
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const auto& expected = golden.at("texts")[i];
      const auto time = [&](const char* key) {
        return expected.at(key).is_null() ? std::nullopt : std::optional<double>(expected.at(key));
      };
      EXPECT_EQ(texts[i].tokens, expected.at("tokens").get<Tokens>());
      EXPECT_EQ(texts[i].start, time("start"));
      EXPECT_EQ(texts[i].end, time("end"));
    }
  }
}

TEST(ChunkJoining, ATextWithoutATimeAtItsEndIsKept) {
  const auto texts = join_chunks(std::vector<TranscribedChunk>{{.tokens = {at(1), 1, 2}, .seconds = 5}}, kIds);
  ASSERT_EQ(texts.size(), 1u);
  EXPECT_EQ(texts[0].start, 1);
  EXPECT_EQ(texts[0].end, std::nullopt);
  EXPECT_TRUE(join_chunks({}, kIds).empty());
  EXPECT_TRUE(join_chunks(std::vector<TranscribedChunk>{{.tokens = {at(1)}, .seconds = 5}}, kIds).empty());
}

}  // namespace
}  // namespace encdec
