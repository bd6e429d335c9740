// Tests encdec classify and encdec rerank.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/packed_folder.h"
#include "tests/tools/command.h"

namespace encdec {
namespace {

using nlohmann::json;

std::string folder(const std::string& name) {
  return unpacked(ENCDEC_TOOLS_DIR "/encoders/tests/golden/" + name) / "model";
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::vector<json> objects_of(const std::string& text) {
  std::vector<json> objects;
  for (const std::string& line : lines_of(text)) objects.push_back(json::parse(line));
  return objects;
}

Finished run_on(const std::string& command, const std::string& model, std::vector<std::string> options,
                std::string input) {
  options.insert(options.begin(), {command, "--model", folder("classifiers/" + model)});
  return encdec_command(std::move(options), std::move(input));
}

TEST(Classify, WritesTheBestLabelOfEachLine) {
  const Finished best = run_on("classify", "inference", {}, "the cat\n\na\n");
  const Finished all = run_on("classify", "inference", {"--json", "--all-scores"}, "the cat\n\na\n");
  ASSERT_EQ(best.status, 0) << best.errors;
  const auto lines = lines_of(best.output);
  const auto objects = objects_of(all.output);
  ASSERT_EQ(lines.size(), 3u);
  ASSERT_EQ(objects.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    const json& labels = objects[i]["labels"];
    ASSERT_EQ(labels.size(), 3u);
    EXPECT_EQ(lines[i], labels[0]["label"].get<std::string>() + "\t" + labels[0]["score"].dump());
    EXPECT_GE(labels[0]["score"], labels[1]["score"]);
    EXPECT_NEAR(labels[0]["score"].get<double>() + labels[1]["score"].get<double>() + labels[2]["score"].get<double>(),
                1, 1e-6);
  }
  const Finished one = run_on("classify", "inference", {"--json"}, "the cat\n");
  EXPECT_EQ(objects_of(one.output)[0]["labels"].size(), 1u);
}

TEST(Classify, PairsDifferFromTextsAndNeedATab) {
  const Finished pairs = run_on("classify", "inference", {"--pairs"}, "the cat\ta\na\t\n");
  EXPECT_EQ(lines_of(pairs.output).size(), 2u) << pairs.errors;
  EXPECT_NE(pairs.output, run_on("classify", "inference", {}, "the cat\na\n").output);
  EXPECT_TRUE(failed(run_on("classify", "inference", {"--pairs"}, "a\tb\nthe cat\n"), 1,
                     {"standard input:2: expected two texts with a tab between"}));
}

TEST(Classify, LabelsOfTheCallerReplaceThoseOfTheModel) {
  const Finished found =
      run_on("classify", "inference", {"--labels", "sport, the weather,cats", "--json", "--all-scores"}, "the cat\n");
  ASSERT_EQ(found.status, 0) << found.errors;
  const json scores = objects_of(found.output).at(0).at("labels");
  std::vector<std::string> labels;
  for (const json& each : scores) labels.push_back(each.at("label"));
  EXPECT_THAT(labels, testing::UnorderedElementsAre("sport", "the weather", "cats"));
  EXPECT_TRUE(failed(run_on("classify", "inference", {"--labels", "a", "--hypothesis-template", "none"}, "b\n"), 1,
                     {"hypothesis template 'none', expected one with {} for the label"}));
  EXPECT_TRUE(failed(run_on("classify", "inference", {"--labels", " , "}, "b\n"), 2, {"--labels"}));
}

TEST(Classify, LongTextsAreCutOrRefused) {
  const std::string text = "the cat sat on the mat and the mat was on the cat\n";
  EXPECT_EQ(run_on("classify", "inference", {"--max-length", "9"}, text).status, 0);
  EXPECT_TRUE(failed(run_on("classify", "inference", {"--max-length", "9", "--long-texts", "error"}, text), 1,
                     {"text 1: ", "tokens, expected at most 9"}));
}

TEST(Rerank, WritesTheBestDocumentsFirst) {
  const std::string documents = "a dog\nthe cat sat on a mat.\n\na dog\n";
  const Finished text = run_on("rerank", "reranker", {"--query", "who sat on the mat?"}, documents);
  const Finished all = run_on("rerank", "reranker", {"--query", "who sat on the mat?", "--json"}, documents);
  ASSERT_EQ(text.status, 0) << text.errors;
  const auto lines = lines_of(text.output);
  const auto objects = objects_of(all.output);
  ASSERT_EQ(lines.size(), 4u);
  ASSERT_EQ(objects.size(), 4u);
  const auto given = lines_of(documents);
  for (std::size_t i = 0; i < 4; ++i) {
    const auto index = objects[i]["index"].get<std::size_t>();
    EXPECT_EQ(objects[i]["document"], given[index]);
    EXPECT_EQ(lines[i], std::to_string(index) + "\t" + objects[i]["score"].dump() + "\t" + given[index]);
    if (i > 0) EXPECT_GE(objects[i - 1]["score"], objects[i]["score"]);
  }
  const Finished two = run_on("rerank", "reranker", {"--query", "who sat on the mat?", "--top-n", "2"}, documents);
  EXPECT_EQ(two.output, lines[0] + "\n" + lines[1] + "\n");
  const Finished raw = run_on("rerank", "reranker", {"--query", "who sat on the mat?", "--raw-scores"}, documents);
  EXPECT_NE(raw.output, text.output);
}

TEST(Rerank, RefusesWhatItCannotRank) {
  EXPECT_TRUE(failed(run_on("rerank", "reranker", {"--query", "a"}, ""), 1, {"a query without documents"}));
  EXPECT_TRUE(failed(run_on("rerank", "inference", {"--query", "a"}, "b\n"), 1, {"3 labels, expected 1"}));
  EXPECT_TRUE(failed(run_on("rerank", "reranker", {"--query", "a\xff"}, "b\n"), 1, {"--query", "UTF-8"}));
  EXPECT_TRUE(failed(run_on("rerank", "reranker", {}, "b\n"), 2, {"--query is required"}));
  EXPECT_TRUE(
      failed(encdec_command({"rerank", "--query", "a", "--model", folder("sentence_transformers/no_modules")}, "b\n"),
             1, {"without a head", "ForSequenceClassification"}));
}

TEST(Tag, WritesEntitiesAsLinesOrJson) {
  const std::string text = "the cat in Łódź\n\n";
  const Finished json_lines = run_on("tag", "taggers/byte_pairs", {"--aggregation", "simple", "--json"}, text);
  ASSERT_EQ(json_lines.status, 0) << json_lines.errors;
  const auto objects = objects_of(json_lines.output);
  ASSERT_EQ(objects.size(), 2u);
  std::string expected;
  for (const json& entity : objects[0]["entities"]) {
    expected += entity["entity_group"].get<std::string>() + "\t" + entity["score"].dump() + "\t" +
                entity["start"].dump() + "\t" + entity["end"].dump() + "\t" + entity["word"].get<std::string>() + "\n";
    EXPECT_LE(entity["end"], 15);
    EXPECT_GE(entity["end_byte"], entity["end"]);
  }
  EXPECT_FALSE(expected.empty());
  EXPECT_EQ(objects[1], json::parse(R"({"entities": []})"));
  EXPECT_EQ(run_on("tag", "taggers/byte_pairs", {"--aggregation", "simple"}, text).output, expected + "\n\n");
  const json none = objects_of(run_on("tag", "taggers/byte_pairs", {"--json", "--ignore-labels", "x"}, text).output)[0];
  EXPECT_EQ(none["entities"][0]["index"], 1);
  EXPECT_TRUE(failed(run_on("tag", "inference", {}, "a\n"), 1, {"expected a classifier of tokens"}));
  EXPECT_TRUE(failed(run_on("tag", "taggers/pieces", {"--aggregation", "x"}, "a\n"), 2, {"--aggregation"}));
  EXPECT_TRUE(failed(run_on("tag", "taggers/pieces", {"--stride", "3"}, "a\n"), 2, {"--aggregation"}));
}

TEST(Inspect, NamesTheLabelsOfAClassifier) {
  const Finished text = encdec_command({"inspect", "--model", folder("classifiers/inference")});
  EXPECT_THAT(text.output, testing::HasSubstr("of texts, 3 labels: contradiction, neutral, Entailment"));
  const json found =
      json::parse(encdec_command({"inspect", "--json", "--model", folder("classifiers/reranker_identity")}).output);
  EXPECT_EQ(found["classifier"]["rerank_function"], "none");
  EXPECT_THAT(encdec_command({"inspect", "--graph", "text", "--model", folder("classifiers/inference")}).output,
              testing::HasSubstr("head.output"));
}

}  // namespace
}  // namespace encdec
