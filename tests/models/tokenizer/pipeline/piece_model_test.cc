// Compares piece models with naive ones, over random vocabularies and words of the letters a, b and c.
#include "encdec/models/tokenizer/pipeline/piece_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <random>

#include "encdec/models/tokenizer/pipeline/characters.h"
#include "tests/support/message_of.h"

namespace encdec::piece_models {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Ids = std::vector<std::int32_t>;
using Pieces = std::vector<std::string>;
using IdsOfPieces = std::map<std::string, std::int32_t>;

Vocabulary vocabulary(const Pieces& pieces) {
  Vocabulary result;
  for (const std::string& piece : pieces) result.add(piece, static_cast<std::int32_t>(result.size()), "file");
  return result;
}

Ids tokenize(const PieceModel& model, std::string_view word) {
  Ids ids;
  model.tokenize(word, ids, nullptr);
  return ids;
}

std::string random_word(std::mt19937& random, std::size_t length) {
  std::string word(length, '\0');
  for (char& c : word) c = static_cast<char>('a' + random() % 3);
  return word;
}

// Computes the best cut of every prefix; of equal sums, the cut with the longest last piece. Consecutive unknown
// characters are one unknown piece, with the id 0.
Ids cut_naively(const std::string& word, const std::vector<ScoredPiece>& pieces) {
  const double unknown = std::ranges::min(pieces, {}, &ScoredPiece::score).score - 10;
  struct Best {
    double sum = -std::numeric_limits<double>::infinity();
    std::size_t bytes = 0;  // of the last piece
    std::int32_t id = 0;
  };
  std::vector<Best> best(word.size() + 1);
  best[0].sum = 0;
  for (std::size_t end = 1; end <= word.size(); ++end) {
    const auto arrive = [&](std::size_t bytes, double score, std::size_t id) {
      const double sum = best[end - bytes].sum + score;
      if (sum < best[end].sum || (sum == best[end].sum && bytes < best[end].bytes)) return;
      best[end] = {sum, bytes, static_cast<std::int32_t>(id)};
    };
    bool is_known = false;
    for (std::size_t id = 0; id < pieces.size(); ++id) {
      const auto& [text, score] = pieces[id];
      if (!std::string_view(word).substr(0, end).ends_with(text)) continue;
      arrive(text.size(), score, id);
      is_known = is_known || text.size() == 1;
    }
    if (!is_known) arrive(1, unknown, 0);
  }
  Ids ids;
  for (std::size_t end = word.size(); end > 0; end -= best[end].bytes) {
    if (best[end].id != 0 || ids.empty() || ids.back() != 0) ids.push_back(best[end].id);
  }
  std::ranges::reverse(ids);
  return ids;
}

TEST(Unigram, HasTheHighestSumOfAllCuts) {
  std::mt19937 random(11);
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<ScoredPiece> pieces = {{"<unk>", 0}};
    for (std::size_t i = 0, count = 1 + random() % 12; i < count; ++i) {
      const std::string text = random_word(random, 1 + random() % 4);
      if (std::ranges::find(pieces, text, &ScoredPiece::text) != pieces.end()) continue;
      pieces.push_back({text, -static_cast<double>(random() % 20)});
    }
    const std::string word = random_word(random, random() % 60);
    ASSERT_EQ(tokenize(*unigram({.pieces = pieces, .unknown_id = 0}, "file"), word), cut_naively(word, pieces)) << word;
  }
}

// The model keeps a score for each byte of the longest piece, not of the word. Here pieces have the maximum length, and
// the word is many times longer.
TEST(Unigram, PiecesMayHaveTheMaximumLength) {
  std::mt19937 random(12);
  const std::string longest(kMaxPieceBytes, 'a');
  const std::vector<ScoredPiece> pieces = {{"<unk>", 0}, {longest, -1}, {longest.substr(1), -1},
                                           {"a", -3},    {"b", -1},     {longest.substr(2) + "b", -2}};
  const auto model = unigram({.pieces = pieces, .unknown_id = 0}, "file");
  for (int trial = 0; trial < 5; ++trial) {
    std::string word;
    for (int run = 0; run < 4; ++run) word += std::string(random() % (3 * kMaxPieceBytes), 'a') + "b";
    ASSERT_EQ(tokenize(*model, word), cut_naively(word, pieces)) << "trial " << trial;
  }
}

using RankOf = std::function<std::optional<std::int32_t>(const std::string& left, const std::string& right)>;

// Merges the letters of a word step by step: always the leftmost of the adjacent pairs with the lowest rank.
Ids merged_naively(const std::string& word, const RankOf& rank_of, const IdsOfPieces& ids_of) {
  Pieces pieces;
  for (const char letter : word) pieces.emplace_back(1, letter);
  for (;;) {
    std::optional<std::int32_t> lowest;
    std::size_t position = 0;
    for (std::size_t i = 0; i + 1 < pieces.size(); ++i) {
      const auto rank = rank_of(pieces[i], pieces[i + 1]);
      if (!rank || (lowest && *rank >= *lowest)) continue;
      lowest = rank;
      position = i;
    }
    if (!lowest) break;
    pieces[position] += pieces[position + 1];
    pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(position) + 1);
  }
  Ids ids;
  for (const std::string& piece : pieces) ids.push_back(ids_of.at(piece));
  return ids;
}

// Few letters and many merges, so that candidates appear, vanish and overlap. In some trials every letter merges with
// every letter and every pair of letters: then candidates fill their heap.
TEST(Bpe, EqualsMergingStepByStep) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 1000; ++trial) {
    const bool is_full = trial % 100 == 0;
    Pieces pieces = {"a", "b", "c"};
    IdsOfPieces ids_of = {{"a", 0}, {"b", 1}, {"c", 2}};
    Merges merges;
    const auto add = [&](const std::string& left, const std::string& right) {
      merges.emplace_back(left, right);
      const std::string whole = left + right;
      if (ids_of.try_emplace(whole, static_cast<std::int32_t>(pieces.size())).second) pieces.push_back(whole);
    };
    for (std::size_t length = 2; is_full && length <= 3; ++length) {
      Merges of_length;
      for (const std::string& left : pieces) {
        for (const std::string& right : pieces) {
          if (left.size() + right.size() == length) of_length.emplace_back(left, right);
        }
      }
      std::ranges::shuffle(of_length, random);
      for (const auto& [left, right] : of_length) add(left, right);
    }
    for (std::size_t i = 0, count = 1 + random() % 30; i < count; ++i) {
      const std::string left = pieces[random() % pieces.size()], right = pieces[random() % pieces.size()];
      add(left, right);
    }
    std::map<std::pair<std::string, std::string>, std::int32_t> ranks;  // of equal merges, the last one counts
    for (std::size_t rank = 0; rank < merges.size(); ++rank) ranks[merges[rank]] = static_cast<std::int32_t>(rank);
    const RankOf rank_of = [&](const std::string& left, const std::string& right) {
      const auto found = ranks.find({left, right});
      return found == ranks.end() ? std::nullopt : std::optional(found->second);
    };
    const std::string word = random_word(random, is_full ? 600 : random() % 40);
    const auto model = bpe({.vocabulary = vocabulary(pieces), .merges = merges}, "file");
    const Ids ids = tokenize(*model, word);
    ASSERT_EQ(ids, merged_naively(word, rank_of, ids_of)) << "trial " << trial;
    ASSERT_EQ(ids.capacity(), ids.size()) << "trial " << trial;
  }
}

// All bytes, whose ids are their values, followed by `more`.
Pieces with_all_bytes(const Pieces& more) {
  Pieces pieces;
  for (int byte = 0; byte < 256; ++byte) pieces.emplace_back(byte_character(static_cast<std::uint8_t>(byte)));
  pieces.insert(pieces.end(), more.begin(), more.end());
  return pieces;
}

TEST(RankBpe, EqualsMergingThePairWhosePieceHasTheSmallestId) {
  std::mt19937 random(5);
  for (int trial = 0; trial < 300; ++trial) {
    IdsOfPieces ids_of = {{"a", 'a'}, {"b", 'b'}, {"c", 'c'}};
    Pieces more;
    for (std::size_t i = 0, count = random() % 30; i < count; ++i) {
      const std::string piece = random_word(random, 2 + random() % 4);
      if (ids_of.try_emplace(piece, static_cast<std::int32_t>(256 + more.size())).second) more.push_back(piece);
    }
    const RankOf rank_of = [&](const std::string& left, const std::string& right) {
      const auto found = ids_of.find(left + right);
      return found == ids_of.end() ? std::nullopt : std::optional(found->second);
    };
    const std::string word = random_word(random, 1 + random() % 40);
    const Ids expected = ids_of.contains(word) ? Ids{ids_of.at(word)} : merged_naively(word, rank_of, ids_of);
    ASSERT_EQ(tokenize(*rank_bpe(vocabulary(with_all_bytes(more)), "file"), word), expected) << word;
  }
}

TEST(RankBpe, BytesNeedNotFormCharacters) {
  const auto model = rank_bpe(vocabulary(with_all_bytes({"\u00e2\u013a"})), "file");  // the bytes E2 98
  EXPECT_THAT(tokenize(*model, "\u00e2\u013a\u0125"), ElementsAre(256, 0x83));
  EXPECT_THAT(tokenize(*model, "\u0100\u00ff"), ElementsAre(0, 0xff));
}

TEST(PieceModel, BytesReplaceUnknownCharactersIfAllExist) {
  const auto cut = unigram(
      {.pieces = {{"<unk>", 0}, {"a", -1}, {"<0xC3>", -1}, {"<0xA9>", -1}}, .unknown_id = 0, .byte_fallback = true},
      "file");
  const auto merged = bpe(
      {.vocabulary = vocabulary({"<unk>", "a", "<0xC3>", "<0xA9>"}), .unknown_token = "<unk>", .byte_fallback = true},
      "file");
  for (const auto* model : {&cut, &merged}) {
    EXPECT_THAT(tokenize(**model, "aéé"), ElementsAre(1, 2, 3, 2, 3));
    EXPECT_THAT(tokenize(**model, "aè"), ElementsAre(1, 0));
  }
}

TEST(Bpe, UnknownCharactersBecomeOnePieceOrSeveralOrNone) {
  const auto ids = [](bool fuse, std::optional<std::string> unknown) {
    return tokenize(
        *bpe({.vocabulary = vocabulary({"<unk>", "a"}), .unknown_token = unknown, .fuse_unknown = fuse}, "file"),
        "xyaz");
  };
  EXPECT_THAT(ids(false, "<unk>"), ElementsAre(0, 0, 1, 0));
  EXPECT_THAT(ids(true, "<unk>"), ElementsAre(0, 1, 0));
  EXPECT_THAT(ids(true, std::nullopt), ElementsAre(1));
}

TEST(Bpe, WholeWordsNeedNoMergesIfConfigured) {
  const auto model = bpe({.vocabulary = vocabulary({"a", "b", "ab"}), .ignore_merges = true}, "file");
  EXPECT_THAT(tokenize(*model, "ab"), ElementsAre(2));
  EXPECT_THAT(tokenize(*model, "aba"), ElementsAre(0, 1, 0));
}

TEST(WordPiece, AWordThatIsTooLongOrCannotBeCutIsUnknownAsAWhole) {
  const auto model =
      word_piece({.vocabulary = vocabulary({"[UNK]", "é", "##é", "##éé"}), .max_word_characters = 4}, "x");
  EXPECT_THAT(tokenize(*model, "éééé"), ElementsAre(1, 3, 2));
  EXPECT_THAT(tokenize(*model, "ééééé"), ElementsAre(0));
  EXPECT_THAT(tokenize(*model, "éx"), ElementsAre(0));
}

TEST(PieceModel, WithoutAnUnknownPieceUnknownCharactersAreAnError) {
  const PieceModelPtr models[] = {
      unigram({.pieces = {{"a", -1}, {"a", -2}}, .unknown_id = std::nullopt}, "file"),  // the last of equal pieces wins
      bpe({.vocabulary = vocabulary({"x", "a"}), .unknown_token = "?"}, "file"),
      word_piece({.vocabulary = vocabulary({"x", "a"})}, "file"),
      word_level({.vocabulary = vocabulary({"x", "a"})}, "file")};
  for (const PieceModelPtr& model : models) {
    EXPECT_THAT(tokenize(*model, "a"), ElementsAre(1));
    EXPECT_NE(refusal_of<TokenizerError>("file: ", [&] { tokenize(*model, "b"); }), "no exception");
  }
}

TEST(PieceModel, RefusesVocabulariesThatDoNotFit) {
  const std::string too_long(kMaxPieceBytes + 1, 'a');
  const auto refusal = [](const auto& make) { return refusal_of<TokenizerError>("file: ", make); };
  EXPECT_THAT(refusal([] { unigram({.pieces = {{"a", 0}}, .unknown_id = 1}, "file"); }), HasSubstr("unk_id is 1"));
  EXPECT_THAT(refusal([] { unigram({.pieces = {{"a", 0}}, .unknown_id = -1}, "file"); }), HasSubstr("unk_id is -1"));
  EXPECT_THAT(refusal([] {
                unigram({.pieces = {{"a", std::numeric_limits<double>::infinity()}}}, "file");
              }),
              HasSubstr("piece 0 has 1 bytes and the score inf"));
  EXPECT_THAT(refusal([&] { unigram({.pieces = {{too_long, 0}}}, "file"); }), HasSubstr("piece 0 has 1025 bytes"));
  EXPECT_THAT(refusal([&] { word_piece({.vocabulary = vocabulary({too_long})}, "file"); }),
              HasSubstr("piece 0 has 1025 bytes, expected at most 1024"));
  EXPECT_THAT(refusal([&] { rank_bpe(vocabulary(with_all_bytes({too_long})), "file"); }),
              HasSubstr("piece 256 has 1025 bytes, expected at most 1024"));
  EXPECT_THAT(refusal([] { rank_bpe(vocabulary({"a"}), "file"); }),
              HasSubstr("no token for the byte 0x00, expected one for each"));
}

}  // namespace
}  // namespace encdec::piece_models
