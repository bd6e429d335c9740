// Tests encdec score: the log-probability of given targets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "tests/tools/files.h"
#include "tests/tools/generate_command.h"

namespace encdec {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class Score : public testing::Test {
 protected:
  Finished run_score(const std::string& sources, const std::string& targets, std::vector<std::string> options = {},
                     std::string_view model = "text") const {
    options.insert(options.begin(),
                   {"score", "--quiet", "--model", golden_model(model), "--target", folder_.write("targets", targets)});
    return encdec_command(std::move(options), sources);
  }

  std::vector<json> scores(const std::string& sources, const std::string& targets,
                           std::vector<std::string> options = {}) const {
    const Finished finished = run_score(sources, targets, std::move(options));
    EXPECT_EQ(finished.status, 0) << finished.errors;
    std::vector<json> all;
    for (const std::string& line : split_lines(finished.output)) all.push_back(json::parse(line));
    return all;
  }

  const TemporaryFolder folder_;
};

TEST_F(Score, OfGeneratedTargetsEqualsThatOfGeneration) {
  std::vector<json> generated;
  std::vector<std::string> targets;
  for (const std::string& line :
       split_lines(run_generate("text", {"--token-ids", "--json", "--token-scores"}, golden_sources("text")).output)) {
    generated.push_back(json::parse(line)["hypotheses"][0]);
    targets.push_back(ids_line(generated.back()["token_ids"]));
  }
  const auto scored = scores(golden_sources("text"), join_lines(targets), {"--token-ids"});
  ASSERT_EQ(scored.size(), generated.size());
  for (std::size_t i = 0; i < scored.size(); ++i) {
    EXPECT_NEAR(scored[i]["score"].get<double>(), generated[i]["score"].get<double>(), 1e-4);
    ASSERT_EQ(scored[i]["token_scores"].size(), generated[i]["token_scores"].size());
    for (std::size_t t = 0; t < scored[i]["token_scores"].size(); ++t) {
      EXPECT_NEAR(scored[i]["token_scores"][t].get<double>(), generated[i]["token_scores"][t].get<double>(), 1e-5);
    }
  }
}

TEST_F(Score, IsTheSumOfItsTokenScores) {
  for (const json& scored : scores("a\nHello world\n", "the cat\nthe dog sat\n")) {
    double sum = 0;
    for (const double token : scored["token_scores"].get<std::vector<double>>()) {
      EXPECT_LE(token, 0);
      sum += token;
    }
    EXPECT_NEAR(scored["score"].get<double>(), sum, 1e-5);
    EXPECT_GT(scored["token_scores"].size(), 2u);
  }
}

TEST_F(Score, DoesNotDependOnHowItIsComputed) {
  std::string sources, targets;
  for (int i = 0; i < 600; ++i) {
    const std::string id = std::to_string(i % 170);
    sources += "5 " + id + (i % 3 == 0 ? " 9 0\n" : " 0\n");
    targets += id + (i % 5 == 0 ? " 12 13 14 0\n" : " 0\n");
  }
  const std::string expected = run_score(sources, targets, {"--token-ids", "--batch-size", "1"}).output;
  EXPECT_EQ(split_lines(expected).size(), 600u);
  for (const char* batch_size : {"0", "7", "1000"}) {
    for (const char* threads : {"1", "2"}) {
      EXPECT_TRUE(
          run_score(sources, targets, {"--token-ids", "--batch-size", batch_size, "--threads", threads}).output ==
          expected);
    }
  }
}

TEST_F(Score, OfAnEmptyTargetIsTheScoreOfTheEndToken) {
  const auto scored = scores("a\n", "\n");
  EXPECT_EQ(scored.front()["token_scores"].size(), 1u);
  EXPECT_LT(scored.front()["score"], 0);
  EXPECT_EQ(run_score("20 0\n", "\n", {"--token-ids"}).output, R"({"score":0.0,"token_scores":[]})"
                                                               "\n");
}

TEST_F(Score, OfAnEmptySourceIsNull) {
  const std::string null = R"({"score":null,"token_scores":[]})"
                           "\n";
  EXPECT_EQ(run_score("\n", "the cat\n").output, null);
  EXPECT_EQ(run_score("\n", "5 0\n", {"--token-ids"}).output, null);
  const std::string alone = run_score("a\n", "the cat\n").output;
  EXPECT_EQ(run_score("\na\n\n", "x\nthe cat\n\n").output, null + alone + null);
}

TEST_F(Score, FilesMustHaveTheSameNumberOfLines) {
  const std::string alone = run_score("a\n", "b\n").output;
  for (const auto& [sources, targets] : {std::pair{"a\n", "b\nc\n"}, std::pair{"a\nb\n", "b\n"}}) {
    const Finished finished = run_score(sources, targets);
    EXPECT_EQ(finished.output, alone);
    EXPECT_TRUE(failed({finished.status, "", finished.errors}, 1,
                       {": 1 lines", folder_.path("targets"), "standard input", "has more; expected the same number"}));
  }
}

TEST_F(Score, ABadLineIsNamedAndEarlierLinesAreKept) {
  const std::string alone = run_score("a\n", "b\n").output;
  const Finished source = run_score("a\n\xff\n", "b\nb\n");
  EXPECT_EQ(source.output, alone);
  EXPECT_THAT(source.errors, HasSubstr("standard input:2: byte 1 is 0xff"));
  const Finished target = run_score("a\na\n", "b\n\xff\n", {"--output", folder_.path("out")});
  EXPECT_TRUE(failed(target, 1, {folder_.path("targets") + ":2: byte 1 is 0xff"}));
  EXPECT_EQ(folder_.read(folder_.partial()), alone);
  EXPECT_TRUE(
      failed(run_score("5\n", "179\n", {"--token-ids"}), 1, {folder_.path("targets") + ":1: token 1 is '179'"}));
}

// The line's number counts from the start of the file, not from the start of the lines that were read together.
TEST_F(Score, ALineThatTheModelRefusesIsNamed) {
  const std::string model = std::string(ENCDEC_GOLDEN_DIR) + "/bart/base/model";
  std::string sources = "\n", targets = "\n";
  for (int i = 0; i < 299; ++i) {
    sources += "5 6 2\n";
    targets += "7 2\n";
  }
  std::string too_long;
  for (int i = 0; i < 5000; ++i) too_long += "5 ";
  const Finished finished = encdec_command({"score", "--quiet", "--model", model, "--token-ids", "--target",
                                            folder_.write("targets", targets + "7 2\n7 2\n")},
                                           sources + too_long + "\n5 2\n");
  EXPECT_EQ(split_lines(finished.output).size(), 300u);
  EXPECT_TRUE(failed({finished.status, "", finished.errors}, 1, {"standard input:301: ", "5000 tokens"}));
}

TEST_F(Score, AnEmptyInputGivesNoScores) {
  EXPECT_EQ(run_score("", "").status, 0);
  EXPECT_EQ(run_score("", "").output, "");
}

TEST_F(Score, TextNeedsATokenizer) {
  EXPECT_TRUE(failed(run_score("a\n", "b\n", {}, "untied"), 1, {golden_model("untied"), "--token-ids"}));
}

}  // namespace
}  // namespace encdec
