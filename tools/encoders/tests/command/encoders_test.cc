// Tests how encdec embed, classify, rerank and tag read their lines and write their results.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/packed_folder.h"
#include "tests/tools/command.h"
#include "tests/tools/files.h"

namespace encdec {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::string model_of(const std::string& name) {
  return unpacked(ENCDEC_TOOLS_DIR "/encoders/tests/golden/" + name) / "model";
}

const std::string kInference = "classifiers/inference", kReranker = "classifiers/reranker",
                  kTagger = "classifiers/taggers/byte_pairs", kEmbedder = "sentence_transformers/mean_normalized";

Finished run_on(const std::string& command, const std::string& model, std::vector<std::string> options,
                std::string input) {
  options.insert(options.begin(), {command, "--quiet", "--model", model_of(model)});
  return encdec_command(std::move(options), std::move(input));
}

std::vector<std::string> lines_of(const Finished& finished) {
  EXPECT_EQ(finished.status, 0) << finished.errors;
  return split_lines(finished.output);
}

std::vector<json> objects_of(const Finished& finished) {
  std::vector<json> objects;
  for (const std::string& line : lines_of(finished)) objects.push_back(json::parse(line));
  return objects;
}

TEST(Embed, WritesPiecesAndVectorsOfTokens) {
  const std::string model = "sparse_encoders/bge_m3";
  const json expected = json::parse(read_file(model_of(model) + "/../expected.json"));
  const auto written = [&](std::vector<std::string> options) {
    return objects_of(run_on("embed", model, std::move(options), join_lines(expected["texts"])));
  };
  const auto sparse = written({"--sparse"}), pieces = written({"--sparse", "--pieces"});
  const auto tokens = written({"--token-vectors"}), colbert = written({"--colbert-vectors"});
  for (std::size_t i = 0; i < expected["texts"].size(); ++i) {
    ASSERT_EQ(colbert[i].size(), expected["colbert"][i].size());
    EXPECT_EQ(tokens[i].size(), colbert[i].size() + 1);
    EXPECT_NEAR(colbert[i][0][1].get<double>(), expected["colbert"][i][0][1].get<double>(), 1e-5);
  }
  EXPECT_EQ(pieces[0]["▁the"], sparse[0]["4"]);
}

TEST(Embed, SaysWhatItNeeds) {
  EXPECT_TRUE(failed(encdec_command({"embed", "--model", ENCDEC_GOLDEN_DIR "/whisper_formats/hugging_face"}, "a\n"), 1,
                     {"is a speech model, expected encdec transcribe"}));
  EXPECT_TRUE(failed(run_on("embed", kEmbedder, {}, "\xff\n"), 1, {"standard input:1", "UTF-8"}));
  EXPECT_TRUE(failed(encdec_command({"embed"}), 2, {"--model", "embed"}));
  const TemporaryFolder folder;
  const std::string file = folder.write("file", "5\n");
  EXPECT_TRUE(failed(run_on("embed", kEmbedder, {"--input", file, "--output", file}, ""), 2,
                     {"--output " + file + ": the same file as --input"}));
  EXPECT_THAT(run_with_typed("a\n\x04", {"embed", "--model", model_of(kEmbedder)}).errors,
              HasSubstr("reading lines from the terminal; "));
}

TEST(Classify, WritesTheBestLabelOrAllLabelsOfEachLine) {
  const std::string input = "the cat\n\na\n";
  const auto best = lines_of(run_on("classify", kInference, {}, input));
  const auto all = objects_of(run_on("classify", kInference, {"--json", "--all-scores"}, input));
  ASSERT_EQ(best.size(), 3u);
  ASSERT_EQ(all.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    const json& labels = all[i]["labels"];
    EXPECT_EQ(labels.size(), 3u);
    EXPECT_EQ(best[i], labels[0]["label"].get<std::string>() + "\t" + labels[0]["score"].dump());
  }
  EXPECT_EQ(objects_of(run_on("classify", kInference, {"--json"}, "a\n"))[0]["labels"].size(), 1u);
}

TEST(Classify, PairsNeedATabAndLabelsCommas) {
  EXPECT_NE(lines_of(run_on("classify", kInference, {"--pairs"}, "the cat\ta\na\t\n")),
            lines_of(run_on("classify", kInference, {}, "the cat\na\n")));
  EXPECT_TRUE(failed(run_on("classify", kInference, {"--pairs"}, "a\tb\nthe cat\n"), 1,
                     {"standard input:2: expected two texts with a tab between"}));
  const auto found = lines_of(run_on("classify", kInference, {"--labels", "x, the y,z", "--all-scores"}, "the cat\n"));
  for (const char* label : {"x\t", "the y\t", "z\t"}) EXPECT_THAT(found.at(0), HasSubstr(label));
  EXPECT_TRUE(failed(run_on("classify", kInference, {"--labels", " , "}, "b\n"), 2, {"--labels"}));
}

TEST(Rerank, WritesTheBestDocumentsFirst) {
  const std::vector<std::string> given = {"a dog", "the cat sat on a mat.", "", "a dog"};
  const auto ranked = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"--query", "who sat on the mat?"});
    return run_on("rerank", kReranker, std::move(options), join_lines(given));
  };
  const auto lines = lines_of(ranked({}));
  const auto objects = objects_of(ranked({"--json"}));
  ASSERT_EQ(lines.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    const auto index = objects[i]["index"].get<std::size_t>();
    EXPECT_EQ(objects[i]["document"], given[index]);
    EXPECT_EQ(lines[i], std::to_string(index) + "\t" + objects[i]["score"].dump() + "\t" + given[index]);
    if (i > 0) EXPECT_GE(objects[i - 1]["score"], objects[i]["score"]);
  }
  EXPECT_TRUE(failed(run_on("rerank", kReranker, {"--query", "a\xff"}, "b\n"), 1, {"--query", "UTF-8"}));
  EXPECT_TRUE(failed(run_on("rerank", kReranker, {}, "b\n"), 2, {"--query is required"}));
}

TEST(Tag, WritesEntitiesAsLinesOrJson) {
  const std::string text = "the cat in Łódź\n\n";
  const auto objects = objects_of(run_on("tag", kTagger, {"--aggregation", "simple", "--json"}, text));
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
  EXPECT_EQ(run_on("tag", kTagger, {"--aggregation", "simple"}, text).output, expected + "\n\n");
  const json tokens = objects_of(run_on("tag", kTagger, {"--json", "--ignore-labels", "x"}, text))[0];
  EXPECT_EQ(tokens["entities"][0]["index"], 1);
  EXPECT_TRUE(failed(run_on("tag", kTagger, {"--stride", "3"}, "a\n"), 2, {"--aggregation"}));
}

TEST(Inspect, NamesTheLabelsOfAClassifier) {
  const auto inspected = [](const std::string& model, std::vector<std::string> options = {}) {
    options.insert(options.begin(), {"inspect", "--model", model_of(model)});
    return encdec_command(options).output;
  };
  EXPECT_THAT(inspected(kInference), HasSubstr("of texts, 3 labels: contradiction, neutral, Entailment"));
  EXPECT_EQ(json::parse(inspected(kReranker, {"--json"}))["classifier"]["rerank_function"], "sigmoid");
  EXPECT_THAT(inspected(kInference, {"--graph", "text"}), HasSubstr("head.output"));
}

}  // namespace
}  // namespace encdec
