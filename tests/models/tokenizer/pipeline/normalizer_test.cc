#include "encdec/models/tokenizer/pipeline/normalizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "encdec/engine/base/error.h"

namespace encdec::normalizers {
namespace {

std::string normalized(const Normalizer& normalizer, std::string_view text) {
  PipelineText result = PipelineText::whole(text);
  normalizer(result);
  return result.text;
}

TEST(Normalizer, EachKindMatchesItsName) {
  EXPECT_EQ(normalized(normal(NormalForm::nfc), "e\u0301"), "é");
  EXPECT_EQ(normalized(normal(NormalForm::nfkd), "ﬁé"), "fie\u0301");
  EXPECT_EQ(normalized(lowercase, "ÀΣİ"), "àσi\u0307");
  EXPECT_EQ(normalized(strip_accents, "e\u0301é"), "eé");
  EXPECT_EQ(normalized(nmt, "a\x01\tb\u200B\uFFFDc"), "a b  c");
  EXPECT_EQ(normalized(strip({}), " \u3000a b\n"), "a b");
  EXPECT_EQ(normalized(strip({.left = false}), " a "), " a");
  EXPECT_EQ(normalized(prepend("▁"), "a"), "▁a");
  EXPECT_EQ(normalized(prepend("▁"), ""), "");
  EXPECT_EQ(normalized(replace(literal_pattern(" "), "▁"), "a b c"), "a▁b▁c");
  EXPECT_EQ(normalized(replace(regex_pattern(" {2,}", ""), " "), "a  b   c "), "a b c ");
  EXPECT_EQ(normalized(byte_level, "é a"), "Ã©Ġa");
}

TEST(Normalizer, BertCleansSplitsStripsAndLowers) {
  EXPECT_EQ(normalized(bert({}), "\x01ÀB\t中\u200D"), "ab  中 ");
  EXPECT_EQ(normalized(bert({.strip_accents = false}), "ÀB"), "àb");
  EXPECT_EQ(normalized(bert({.strip_accents = true, .lowercase = false}), "ÀB"), "AB");
  EXPECT_EQ(normalized(bert({.clean_text = false, .split_chinese = false}), "\t中"), "\t中");
}

TEST(Normalizer, SequencesRunInOrder) {
  std::vector<Normalizer> parts;
  parts.push_back(prepend("X"));
  parts.push_back(lowercase);
  parts.push_back(prepend("X"));
  EXPECT_EQ(normalized(sequence(std::move(parts)), "A"), "Xxa");
}

TEST(Normalizer, TracksTheBeginningOfTheText) {
  const auto begins_first = [](const Normalizer& normalizer, std::string_view text) {
    PipelineText result = PipelineText::whole(text);
    normalizer(result);
    return result.slice(0, result.text.size()).is_first;
  };
  EXPECT_TRUE(begins_first(strip({}), "a "));
  EXPECT_FALSE(begins_first(strip({}), " a"));
  EXPECT_TRUE(begins_first(prepend("x"), "a"));
  EXPECT_TRUE(begins_first(lowercase, "İ"));
  // The replacement of a match belongs to the last character of the match.
  EXPECT_TRUE(begins_first(replace(literal_pattern(" "), "_"), " a"));
  EXPECT_FALSE(begins_first(replace(literal_pattern("  "), "_"), "  a"));
}

TEST(Normalizer, TextThatGrowsWithoutEndIsAnError) {
  std::vector<Normalizer> parts;
  for (int i = 0; i < 10; ++i) parts.push_back(replace(literal_pattern("a"), std::string(1000, 'a')));
  EXPECT_THROW(normalized(sequence(std::move(parts)), "a"), TokenizerError);
}

// Returns a table with one rule: byte 'a' becomes the zero-terminated text in `replacements` at the offset in `value`.
// `child` is the unit of the trie for 'a'.
std::string table(std::uint32_t child, std::uint32_t value, std::string_view replacements) {
  std::vector<std::uint32_t> units(256);
  units[0] = 1u << 10;     // its children are at 0 ^ 1
  units[1 ^ 'a'] = child;  // reached by 'a'
  units[1 ^ 'a' ^ 2] = value;
  const auto trie_bytes = static_cast<std::uint32_t>(units.size() * sizeof(std::uint32_t));
  std::string bytes(sizeof trie_bytes + trie_bytes, '\0');
  std::memcpy(bytes.data(), &trie_bytes, sizeof trie_bytes);
  std::memcpy(bytes.data() + sizeof trie_bytes, units.data(), trie_bytes);
  return bytes.append(replacements);
}
constexpr std::uint32_t kLeaf = 'a' | 1u << 8 | 2u << 10;

TEST(Precompiled, ReplacesByItsTable) {
  const auto normalizer = precompiled({table(kLeaf, 1u << 31 | 2, std::string_view("x\0yz\0", 5)), "file"});
  EXPECT_EQ(normalized(normalizer, "bab"), "byzb");
  // A short grapheme cluster is replaced as a whole.
  EXPECT_EQ(normalized(normalizer, "a\u0301b"), "yzb");
  EXPECT_EQ(normalized(normalizer, "a\u0301\u0301b"), "yzb");
  EXPECT_EQ(normalized(normalizer, "a\u0301\u0301\u0301b"), "yz\u0301\u0301\u0301b");
}

TEST(Precompiled, BeginningAfterADeletedCharacterIsAWholeCharacter) {
  const Normalizer deletes = precompiled({table(kLeaf, 1u << 31, std::string_view("\0", 1)), "file"});
  const auto origin_bytes = [&](const Normalizer& next, std::string_view text) {
    PipelineText result = PipelineText::whole(text);
    sequence({deletes, next})(result);
    return result.origin_bytes;
  };
  for (const NormalForm form : {NormalForm::nfc, NormalForm::nfd, NormalForm::nfkc, NormalForm::nfkd}) {
    EXPECT_EQ(origin_bytes(normal(form), "a中b"), 3u);
  }
  EXPECT_EQ(origin_bytes(normal(NormalForm::nfd), "aé"), 3u);  // e and the accent, which has 2 bytes
  EXPECT_EQ(origin_bytes(bert({.split_chinese = false}), "aéb"), 1u);
  EXPECT_EQ(origin_bytes(normal(NormalForm::nfc), "aa中b"), 3u);
  EXPECT_EQ(origin_bytes(normal(NormalForm::nfc), "a"), 0u);
}

TEST(Precompiled, TablesWithOffsetsOutsideHaveNoEffect) {
  for (const std::uint32_t child :
       {std::uint32_t{'a'} | 1u << 8 | 0x1FFFFu << 10, std::uint32_t{'a'} | 0x1FFFFu << 10}) {
    EXPECT_EQ(normalized(precompiled({table(child, 1u << 31, "x"), "file"}), "ab"), "ab");
  }
  EXPECT_EQ(normalized(precompiled({table(kLeaf, 1u << 31 | 500, "x"), "file"}), "ab"), "ab");
  EXPECT_EQ(normalized(precompiled({table(kLeaf, 1u << 31 | 1, "é"), "file"}), "ab"), "ab");
  EXPECT_EQ(normalized(precompiled({table(kLeaf, 1u << 31 | 0, "no end"), "file"}), "ab"), "no endb");
  EXPECT_EQ(normalized(precompiled({std::string(4, '\0'), "file"}), "ab"), "ab");
}

TEST(Precompiled, DamagedTablesAreRefused) {
  const std::string whole = table(kLeaf, 1u << 31, "x");
  for (const std::string& bytes : {std::string(), std::string(3, '\0'), whole.substr(0, 1000),
                                   std::string("\x05\0\0\0abcde", 9), table(kLeaf, 1u << 31, "\xFF")}) {
    try {
      NormalizationTable(bytes, "file: normalizer");
      FAIL();
    } catch (const TokenizerError& error) {
      EXPECT_THAT(error.what(), testing::StartsWith("file: normalizer: a normalisation table with "));
    }
  }
}

}  // namespace
}  // namespace encdec::normalizers
