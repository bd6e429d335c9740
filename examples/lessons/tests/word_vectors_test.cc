#include "inputs/word_vectors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "encdec/engine/base/error.h"
#include "encdec/layers/transformer/embedding.h"
#include "encdec/models/checkpoint/mapped_file.h"
#include "tests/support/comparison.h"
#include "tests/support/damage.h"
#include "tests/support/layer_runner.h"
#include "tests/support/message_of.h"
#include "tests/support/temp_folder.h"

namespace lessons {
namespace {

using Format = WordVectorFormat;
using testing::ElementsAre;

const std::filesystem::path kGolden = std::filesystem::path(ENCDEC_GOLDEN_DIR) / "word_vectors";

WordVectors parse(const std::string& text, const WordVectorOptions& options = {}) {
  const ExactBytes memory(text);
  return parse_word_vectors({memory.bytes(), memory.owner(), "x.vec"}, options);
}

std::string vectors_refusal(const std::string& text, const WordVectorOptions& options = {}) {
  constexpr std::string_view kFile = "x.vec: ";
  const std::string message = refusal_of<Error>(kFile, [&] { parse(text, options); });
  return message.starts_with(kFile) ? message.substr(kFile.size()) : message;
}

std::vector<float> row(const WordVectors& vectors, std::string_view word) {
  const float* values = vectors.vectors().row(vectors.find(word).value());
  return {values, values + vectors.vectors().width()};
}

// Returns little-endian floats as bytes.
std::string floats(std::initializer_list<float> values) {
  std::string bytes;
  for (const float value : values) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(bits >> shift & 0xff);
  }
  return bytes;
}

// Returns what gensim read, by file name.
const nlohmann::json& golden() {
  static const nlohmann::json expected = [] {
    std::ifstream file(kGolden / "expected.json");
    return nlohmann::json::parse(file);
  }();
  return expected;
}

Format format_of(const std::string& name) {
  if (name.ends_with(".bin")) return Format::word2vec_binary;
  return name == "glove.txt" ? Format::glove : Format::word2vec_text;
}

TEST(WordVectors, EqualThoseThatGensimReads) {
  int files = 0;
  for (const auto& [name, expected] : golden().items()) {
    for (const Format format : {Format::automatic, format_of(name)}) {
      SCOPED_TRACE(name);
      const WordVectors vectors = read_word_vectors(kGolden / name, {.format = format});
      const auto words = expected["words"].get<std::vector<std::string>>();
      EXPECT_EQ(std::vector(vectors.words().begin(), vectors.words().end()), words);
      ASSERT_EQ(vectors.vectors().rows(), static_cast<Dim>(words.size()));
      for (std::size_t i = 0; i < words.size(); ++i) {
        EXPECT_EQ(row(vectors, words[i]), expected["vectors"][i].get<std::vector<float>>()) << words[i];
        EXPECT_EQ(vectors.find(words[i]), static_cast<std::int32_t>(i));
      }
      EXPECT_EQ(vectors.duplicates(), name.starts_with("twice") ? 1 : 0);
    }
    ++files;
  }
  EXPECT_EQ(files, 11);
}

TEST(WordVectors, OnlyTheFirstEntriesUpToALimitAreRead) {
  for (const auto& [name, expected] : golden().items()) {
    if (name.starts_with("twice")) continue;
    const auto words = expected["words"].get<std::vector<std::string>>();
    for (const std::size_t limit : {std::size_t{1}, std::size_t{3}, words.size(), std::size_t{1000}}) {
      const auto vectors = read_word_vectors(kGolden / name, {.limit = static_cast<std::int64_t>(limit)});
      const std::size_t count = std::min(limit, words.size());
      ASSERT_EQ(vectors.words().size(), count) << name;
      EXPECT_EQ(vectors.words()[count - 1], words[count - 1]);
      EXPECT_EQ(row(vectors, words[count - 1]), expected["vectors"][count - 1].get<std::vector<float>>());
    }
  }
}

TEST(WordVectors, AnEmbeddingFindsThem) {
  const WordVectors vectors = read_word_vectors(kGolden / "glove.txt");
  const Dim count = vectors.vectors().rows(), width = vectors.vectors().width();
  LayerRunner runner(
      std::make_shared<Embedding>(vectors.scope(), EmbeddingOptions{.vocabulary = count, .model_dim = width}),
      std::vector<Shape>{{kSourceRows}}, 1, {DataType::int32});
  Tensor ids = Tensor::allocate({2}, DataType::int32);
  ids.data<std::int32_t>()[0] = vectors.find("東京").value();
  ids.data<std::int32_t>()[1] = vectors.find("the").value();
  const Tensor looked_up = runner.run(std::array{ids}, {});
  EXPECT_TRUE(same_bits(vectors.vectors().slice(3, 1), looked_up.slice(0, 1)));
  EXPECT_TRUE(same_bits(vectors.vectors().slice(0, 1), looked_up.slice(1, 1)));
  EXPECT_FALSE(vectors.find("Tokyo").has_value());
}

TEST(WordVectors, CanBeMovedAndStillFindWords) {
  WordVectors vectors = parse("a 1\nb 2\n");
  const WordVectors moved = std::move(vectors);
  EXPECT_EQ(row(moved, "b"), std::vector{2.0f});
}

// As in GloVe's 840B and other files.
TEST(WordVectors, AWordIsEverythingBeforeTheNumbersOfItsLine) {
  const WordVectors vectors = parse(", 1 2 3\n. . . 4 5 6\nat name@domain.com 7 8 9\n1 1 1 0 0 0\n\xff\xfe 1 2 3\n");
  EXPECT_THAT(vectors.words(), ElementsAre(",", ". . .", "at name@domain.com", "1 1 1", "\xff\xfe"));
  EXPECT_EQ(row(vectors, ". . ."), (std::vector{4.0f, 5.0f, 6.0f}));
  EXPECT_THAT(parse("2 1\na b 1\nc 2\n").words(), ElementsAre("a b", "c"));
}

TEST(WordVectors, LinesMayEndInSeveralWays) {
  for (const std::string end : {"\n", "\r\n", " \n", " \r\n", "  \n"}) {
    const WordVectors vectors = parse("2 2" + end + "a 1 2" + end + "b  3  4" + end + end);
    EXPECT_THAT(vectors.words(), ElementsAre("a", "b"));
    EXPECT_EQ(row(vectors, "b"), (std::vector{3.0f, 4.0f}));
    EXPECT_THAT(parse("a 1 2" + end + "b 3 4" + end).words(), ElementsAre("a", "b"));
  }
  EXPECT_THAT(parse("2 1\na 1\nb 2").words(), ElementsAre("a", "b"));
  EXPECT_THAT(parse("a 1\nb 2").words(), ElementsAre("a", "b"));
}

TEST(WordVectors, NumbersBecomeTheNearestFloat) {
  const std::vector<std::pair<std::string, float>> numbers = {
      {"1e-05", 1e-05f},
      {"-0.5", -0.5f},
      {"+.5", 0.5f},
      {"5.", 5.0f},
      {"1E3", 1000.0f},
      {"-0", -0.0f},
      {"16777217", 16777216.0f},
      {"1e-42", 1e-42f},
      {"1e-60", 0.0f},
      {"-1e-60", -0.0f},
      {"1e-400", 0.0f},
      {"-1e-99999999999999999999", -0.0f},
      {"0." + std::string(500, '0') + "1", 0.0f},
      {"0." + std::string(500, '0') + "1e501", 1.0f},
      {"7.006492321624085e-46", 0.0f},  // half of the smallest float: a tie, rounded to even
      {"7.006492321624086e-46", 0x1p-149f},
      {"3.4028235e38", 3.4028235e38f},
      // Halfway between two floats except for the last digit: rounding twice would give another float.
      {"1.00000005960464477539062500001", 1.00000012f}};
  for (const auto& [text, value] : numbers) {
    const std::vector<float> found = row(parse("a " + text + " 1\n", {.format = Format::glove}), "a");
    EXPECT_EQ(std::bit_cast<std::uint32_t>(found[0]), std::bit_cast<std::uint32_t>(value)) << text;
  }
}

TEST(WordVectors, RefusesNumbersThatAreNotFinite) {
  for (const std::string text : {"nan", "inf", "-inf", "NaN", "1e39", "-1e39", "1e400", "-1e99999999999999999999",
                                 "0x10", "1,5", "1_0", "+-1", "--1", "1e", "", "\t1"}) {
    if (text.empty()) continue;
    EXPECT_THAT(vectors_refusal("a 1 2\nb " + text + " 2\n"), testing::StartsWith("line 2: '")) << text;
  }
  EXPECT_EQ(vectors_refusal("a 1 2\nb nan 2\n"), "line 2: 'nan' as number 1 of 2, expected a finite decimal number");
  EXPECT_EQ(vectors_refusal("1 2\nb 1 inf\n", {.format = Format::word2vec_text}),
            "line 2: 'inf' as number 2 of 2, expected a finite decimal number");
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(vectors_refusal("2 2\na " + floats({1, 2}) + "b " + floats({1, infinity})),
            "word 2: 'b': number 2 of 2 is inf, expected a finite one");
}

TEST(WordVectors, BinaryEntriesMayEndWithANewline) {
  const std::string ab = floats({1, -2}), cd = floats({3, 1e-3f});
  for (const std::string end : {"", "\n"}) {
    const WordVectors vectors = parse("2 2\nx " + ab + end + "\xff\xfe " + cd + end);
    EXPECT_THAT(vectors.words(), ElementsAre("x", "\xff\xfe"));
    EXPECT_EQ(row(vectors, "\xff\xfe"), (std::vector{3.0f, 1e-3f}));
  }
}

TEST(WordVectors, TheFirstOfDuplicatesWins) {
  const WordVectors vectors = parse("a 1\nb 2\na 3\na 4\nc 5\n", {.format = Format::glove});
  EXPECT_THAT(vectors.words(), ElementsAre("a", "b", "c"));
  EXPECT_EQ(row(vectors, "a"), std::vector{1.0f});
  EXPECT_EQ(row(vectors, "c"), std::vector{5.0f});
  EXPECT_EQ(vectors.duplicates(), 2);
  EXPECT_EQ(vectors.vectors().shape(), (Shape{3, 1}));
}

TEST(WordVectors, RefusesWrongHeaders) {
  const WordVectorOptions text{.format = Format::word2vec_text}, binary{.format = Format::word2vec_binary};
  for (const WordVectorOptions& options : {text, binary}) {
    EXPECT_THAT(vectors_refusal("4000000000000 2\na 1 2\n", options), testing::HasSubstr("words of 2 dim"));
    EXPECT_THAT(vectors_refusal("1 18446744073709551615\na 1 2\n", options), testing::HasSubstr("at most as many"));
    EXPECT_THAT(vectors_refusal("18446744073709551615 5\na 1 2 3 4 5\n", options), testing::HasSubstr("truncated"));
    EXPECT_EQ(vectors_refusal("0 5\na 1 2\n", options), "0 words of 5 dimensions, expected at least 1 of each");
    EXPECT_EQ(vectors_refusal("5 0\na 1 2\n", options), "5 words of 0 dimensions, expected at least 1 of each");
    EXPECT_EQ(vectors_refusal("the 0.5\n", options), "line 1: 'the 0.5', expected the numbers of words and dimensions");
    EXPECT_EQ(vectors_refusal("", options), "line 1: '', expected the numbers of words and dimensions");
  }
  EXPECT_EQ(vectors_refusal("3 1\naaaa 1\nbbbb 2\n"), "line 4: the end of the file, expected 3 words");
  EXPECT_EQ(vectors_refusal("1 1\na 1\nb 2\n"), "line 3: another line, expected 1 words as in the header");
  EXPECT_EQ(vectors_refusal("1 2\na 1 2 3\n"), "line 2: more than 2 numbers, expected as many as in the header");
  EXPECT_EQ(vectors_refusal("1 3\nabcdef 1 2\n"),
            "line 2: 'abcdef' as number 1 of 3, expected a finite decimal number");
  EXPECT_EQ(vectors_refusal("1 1\na " + floats({1}) + "b", binary),
            "1 bytes after the 1 words of the header, expected none");
  EXPECT_EQ(vectors_refusal("2 1\na " + floats({1}) + "bbbbbb " + "abc", binary),
            "word 2: 3 bytes after the word, expected 4 for its vector: the file is truncated");
  EXPECT_EQ(vectors_refusal("2 1\na 1\n\nb 2\n", text), "line 3: 0 numbers, expected a word and 1");
}

// A first line that is not a header is read as a line of GloVe.
TEST(WordVectors, RefusesFirstLinesThatHaveTooFewNumbers) {
  const std::string rest = "\nthe .1 .2 .3\nof .4 .5 .6\n";
  for (const std::string first : {"+2 3", "2 3.0", "2. 3", "2  3", "V 3", "the .1"}) {
    EXPECT_EQ(vectors_refusal(first + rest), "line 2: more than 1 numbers, expected as many as in the first line")
        << first;
    EXPECT_EQ(vectors_refusal(first + rest, {.limit = 1}),
              "line 2: more than 1 numbers, expected as many as in the first line");
  }
  for (const std::string first : {"2 3 100", "the .1 .2", "the  .1  .2"}) {
    EXPECT_EQ(vectors_refusal(first + rest), "line 2: more than 2 numbers, expected as many as in the first line")
        << first;
  }
  EXPECT_EQ(vectors_refusal("2 3 100 7" + rest), "no exception");  // a word and its vector
  EXPECT_EQ(vectors_refusal("2 3 100 7 7" + rest), "line 2: 'the' as number 1 of 4, expected a finite decimal number");
  EXPECT_EQ(vectors_refusal("2\t3" + rest), "line 1: no numbers, expected a word and its vector");
  EXPECT_EQ(vectors_refusal(" 2 3" + rest), "line 1: an empty word, expected a word and its vector");
}

TEST(WordVectors, WordsMayContainSpacesFromLineTwoAndEndWithNumbersFromLineThree) {
  EXPECT_THAT(parse("the 1 2\n. . . 3 4\n1 1 5 6\n").words(), ElementsAre("the", ". . .", "1 1"));
  EXPECT_THAT(parse("the 1 2\n7 3 4\n").words(), ElementsAre("the", "7"));
  EXPECT_EQ(vectors_refusal("the 1 2\n1 1 5 6\n"),
            "line 2: more than 2 numbers, expected as many as in the first line");
  EXPECT_EQ(vectors_refusal("2 2\n1 1 5 6\nthe 1 2\n"),
            "line 2: more than 2 numbers, expected as many as in the header");
}

TEST(WordVectors, RepeatedSpacesBetweenTheFirstNumbersDoNotCount) {
  const WordVectors vectors = parse("the  1   2\nof 3 4\n");
  EXPECT_EQ(row(vectors, "the"), (std::vector{1.0f, 2.0f}));
  EXPECT_EQ(row(vectors, "of"), (std::vector{3.0f, 4.0f}));
}

TEST(WordVectors, AByteOrderMarkIsSkipped) {
  const std::string mark = "\xEF\xBB\xBF";
  const std::vector<std::pair<std::string, Format>> files = {{"2 2\nthe 1 2\nof 3 4\n", Format::word2vec_text},
                                                             {"the 1 2\nof 3 4\n", Format::glove},
                                                             {"1 2\nthe " + floats({1, 2}), Format::word2vec_binary}};
  for (const auto& [text, format] : files) {
    for (const Format expected_format : {Format::automatic, format}) {
      const WordVectors vectors = parse(mark + text, {.format = expected_format});
      EXPECT_EQ(vectors.words()[0], "the");
      EXPECT_EQ(row(vectors, "the"), (std::vector{1.0f, 2.0f}));
    }
  }
  EXPECT_EQ(vectors_refusal(mark), "no words, expected at least 1");
}

TEST(WordVectors, RefusesFilesWithoutWordsOrNumbers) {
  EXPECT_EQ(vectors_refusal(""), "no words, expected at least 1");
  EXPECT_EQ(vectors_refusal("\n \r\n"), "no words, expected at least 1");
  EXPECT_EQ(vectors_refusal("word\n"), "line 1: no numbers, expected a word and its vector");
  EXPECT_EQ(vectors_refusal("a 1 2\n 1 2\n"), "line 2: an empty word, expected a word and its vector");
  EXPECT_EQ(vectors_refusal("a 1 2\nb 1\n"), "line 2: 'b' as number 1 of 2, expected a finite decimal number");
  EXPECT_EQ(vectors_refusal("a 1 2\n2\n"), "line 2: 1 numbers, expected a word and 2");
  EXPECT_EQ(vectors_refusal("1 1\n " + floats({1}), {.format = Format::word2vec_binary}),
            "word 1: an empty word, expected a word and its vector");
  EXPECT_THAT(vectors_refusal("\x1f\x8b\x08"), testing::HasSubstr("gunzip"));
  EXPECT_THAT(vectors_refusal("version https://git-lfs.github.com/spec/v1\n"), testing::HasSubstr("git lfs pull"));
  EXPECT_EQ(vectors_refusal("a 1\n", {.limit = 0}), "a limit of 0 words, expected at least 1");
}

TEST(WordVectors, RefusesMissingFiles) {
  EXPECT_THROW(read_word_vectors("/nowhere/x.vec"), FileError);
}

TEST(WordVectors, DamagedFilesAreReadOrRefused) {
  DamageReport sum;
  for (const auto& [name, expected] : golden().items()) {
    const std::string whole = read_text_file(kGolden / name, 1u << 20);
    for (const Format format : {Format::automatic, format_of(name)}) {
      const DamageReport report = read_damaged(whole, [&](const std::string& text) {
        const WordVectors vectors = parse(text, {.format = format});
        ASSERT_EQ(static_cast<std::size_t>(vectors.vectors().rows()), vectors.words().size());
      });
      sum.read += report.read;
      sum.refused += report.refused;
    }
  }
  EXPECT_GT(sum.read, 1000u);
  EXPECT_GT(sum.refused, 1000u);
}

}  // namespace
}  // namespace lessons
