// Tests encdec tokenize: texts to ids and back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "tests/tools/command.h"
#include "tests/tools/files.h"

namespace encdec {
namespace {

using nlohmann::json;

Finished run_tokenize(std::string_view model, std::vector<std::string> options, std::string input) {
  options.insert(options.begin(), {"tokenize", "--model", golden_model(model)});
  return encdec_command(std::move(options), std::move(input));
}

bool is_one_line(const std::string& text) {
  return text.find_first_of("\r\n") == std::string::npos;
}

class TokenizeGolden : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Marian, TokenizeGolden, testing::Values("text", "text_separate"),
                         [](const auto& test) { return std::string(test.param); });

TEST_P(TokenizeGolden, IdsMatchTransformers) {
  std::string texts, sources, targets;
  const json expected = golden_tokenizer(GetParam());
  for (const json& row : expected.at("encode")) {
    const std::string text = row.at("text");
    if (!is_one_line(text)) continue;
    texts += text + "\n";
    sources += ids_line(row.at("ids")) + "\n";
    targets += ids_line(row.at("target_ids")) + "\n";
  }
  EXPECT_EQ(run_tokenize(GetParam(), {}, texts).output, sources);
  EXPECT_EQ(run_tokenize(GetParam(), {"--target"}, texts).output, targets);
}

TEST_P(TokenizeGolden, TextsMatchTransformers) {
  std::string ids, texts;
  const json expected = golden_tokenizer(GetParam());
  for (const json& row : expected.at("decode")) {
    const std::string text = row[1];
    if (!is_one_line(text)) continue;
    ids += ids_line(row[0]) + "\n";
    texts += text + "\n";
  }
  EXPECT_EQ(run_tokenize(GetParam(), {"--decode"}, ids).output, texts);
}

TEST(Tokenize, PiecesMatchTheIds) {
  const json vocabulary = json::parse(read_file(golden_model("text") + "/vocab.json"));
  const std::string ids = run_tokenize("text", {}, "The cat sat on the mat.\n").output;
  const std::string pieces = run_tokenize("text", {"--pieces"}, "The cat sat on the mat.\n").output;
  json expected = json::array();
  std::istringstream words(pieces);
  for (std::string piece; words >> piece;) {
    ASSERT_TRUE(vocabulary.contains(piece)) << piece;
    expected.push_back(vocabulary[piece]);
  }
  EXPECT_EQ(ids, ids_line(expected) + "\n");
  EXPECT_EQ(run_tokenize("text", {"--decode", "--pieces"}, ids).output, pieces);
}

TEST(Tokenize, NeedsNoWeights) {
  const TemporaryFolder folder;
  for (const auto& entry : std::filesystem::directory_iterator(golden_model("text"))) {
    if (entry.path().extension() != ".safetensors") {
      std::filesystem::copy(entry.path(), folder.path(entry.path().filename().string()));
    }
  }
  const Finished finished = encdec_command({"tokenize", "--model", folder.path("")}, "a\n");
  EXPECT_EQ(finished.output, "20 0\n");
  EXPECT_EQ(finished.status, 0) << finished.errors;
}

TEST(Tokenize, BadInputIsNamed) {
  const auto errors = [](const Finished& finished) { return Finished{finished.status, "", finished.errors}; };
  EXPECT_TRUE(failed(errors(run_tokenize("text", {}, "a\n\xff\n")), 1, {"standard input:2", "byte 1 is 0xff"}));
  EXPECT_TRUE(failed(run_tokenize("text", {"--decode"}, "3 179\n"), 1, {"standard input:1", "token id 179"}));
  EXPECT_TRUE(failed(run_tokenize("untied", {}, "a\n"), 1, {golden_model("untied"), "no tokenizer"}));
}

TEST(Tokenize, SlowInputIsAnsweredLineByLine) {
  Process process({kEncdec, "tokenize", "--model", golden_model("text")});
  process.write("a\n");
  EXPECT_EQ(process.read_line(), "20 0");
  EXPECT_EQ(process.wait().status, 0);
}

}  // namespace
}  // namespace encdec
