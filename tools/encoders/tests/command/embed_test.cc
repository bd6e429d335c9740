// Tests encdec embed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/support/packed_folder.h"
#include "tests/tools/command.h"
#include "tests/tools/files.h"

namespace encdec {
namespace {

using nlohmann::json;

const std::filesystem::path kGolden = ENCDEC_GOLDEN_DIR;
const std::filesystem::path kOwn = ENCDEC_TOOLS_DIR "/encoders/tests/golden";

TEST(Embed, WritesOneArrayPerLine) {
  const std::filesystem::path folder = unpacked(kOwn / "sentence_transformers/mean_normalized");
  const json expected = json::parse(read_file(folder / "expected.json"));
  std::string input;
  for (const json& text : expected["texts"]) input += text.get<std::string>() + "\n";
  std::string first;
  for (const char* batch_size : {"1", "4"}) {
    const Finished finished =
        encdec_command({"embed", "--model", folder / "model", "--batch-size", batch_size, "--quiet"}, input);
    ASSERT_EQ(finished.status, 0) << finished.errors;
    EXPECT_TRUE(first.empty() || finished.output == first);
    first = finished.output;
    const auto lines = split_lines(finished.output);
    ASSERT_EQ(lines.size(), expected["embeddings"].size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const auto found = json::parse(lines[i]).get<std::vector<double>>();
      const auto row = expected["embeddings"][i].get<std::vector<double>>();
      EXPECT_THAT(found, testing::Pointwise(testing::DoubleNear(1e-5), row));
    }
  }
}

TEST(Embed, TruncatesNormalizesAndPrompts) {
  const std::string model = unpacked(kOwn / "sentence_transformers/first_token") / "model";
  const auto embedded = [&](std::vector<std::string> options, const std::string& text) {
    options.insert(options.begin(), {"embed", "--quiet", "--model", model});
    const Finished finished = encdec_command(options, text + "\n");
    EXPECT_EQ(finished.status, 0) << finished.errors;
    return json::parse(finished.output).get<std::vector<double>>();
  };
  const std::vector<double> all = embedded({}, "query: a b");
  EXPECT_EQ(embedded({"--prompt", "query: "}, "a b"), all);
  const std::vector<double> cut = embedded({"--dimensions", "2"}, "query: a b");
  EXPECT_EQ(cut, std::vector<double>(all.begin(), all.begin() + 2));
  const std::vector<double> scaled = embedded({"--dimensions", "2", "--normalize"}, "query: a b");
  EXPECT_NEAR(std::hypot(scaled[0], scaled[1]), 1, 1e-6);
  EXPECT_NEAR(scaled[0] / scaled[1], cut[0] / cut[1], 1e-5 * std::abs(cut[0] / cut[1]));
  EXPECT_TRUE(failed(encdec_command({"embed", "--model", model, "--prompt-name", "poem"}, "a\n"), 1,
                     {"prompt 'poem' is not known, expected one of [document, query]"}));
}

TEST(Embed, WritesSparseVectorsAndVectorsOfTokens) {
  const std::filesystem::path folder = unpacked(kOwn / "sparse_encoders/bge_m3");
  const json expected = json::parse(read_file(folder / "expected.json"));
  std::string input;
  for (const json& text : expected["texts"]) input += text.get<std::string>() + "\n";
  const auto written = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"embed", "--quiet", "--model", folder / "model"});
    const Finished finished = encdec_command(options, input);
    EXPECT_EQ(finished.status, 0) << finished.errors;
    std::vector<json> lines;
    for (const std::string& line : split_lines(finished.output)) lines.push_back(json::parse(line));
    EXPECT_EQ(lines.size(), expected["texts"].size());
    return lines;
  };
  const auto sparse = written({"--sparse"}), pieces = written({"--sparse", "--pieces"});
  const auto tokens = written({"--token-vectors", "--batch-size", "2"}), colbert = written({"--colbert-vectors"});
  for (std::size_t i = 0; i < sparse.size(); ++i) {
    const json& vector = expected["vectors"][i];
    ASSERT_EQ(sparse[i].size(), vector["ids"].size());
    for (std::size_t k = 0; k < sparse[i].size(); ++k) {
      EXPECT_NEAR(sparse[i][vector["ids"][k].dump()].get<double>(), vector["values"][k].get<double>(), 1e-5);
    }
    EXPECT_EQ(pieces[i].size(), sparse[i].size());
    ASSERT_EQ(colbert[i].size(), expected["colbert"][i].size());
    EXPECT_EQ(tokens[i].size(), colbert[i].size() + 1);
    EXPECT_NEAR(colbert[i][0][1].get<double>(), expected["colbert"][i][0][1].get<double>(), 1e-5);
  }
  EXPECT_EQ(pieces[0]["▁the"], sparse[0]["4"]);
  EXPECT_TRUE(failed(encdec_command({"embed", "--sparse", "--model", kGolden / "bert/base/model"}, "a\n"), 1,
                     {"no sparse vectors, expected a model with SpladePooling"}));
}

TEST(Embed, RefusesDecodersAndInvalidUtf8) {
  EXPECT_TRUE(failed(encdec_command({"embed", "--model", kGolden / "t5/v1_1/model"}, "a\n"), 1, {"t5 has a decoder"}));
  EXPECT_TRUE(failed(encdec_command({"embed", "--model", kGolden / "whisper_formats/hugging_face"}, "a\n"), 1,
                     {"is a speech model, expected encdec transcribe"}));
  EXPECT_TRUE(failed(
      encdec_command({"embed", "--model", unpacked(kOwn / "sentence_transformers/no_modules") / "model"}, "\xff\n"), 1,
      {"standard input:1", "UTF-8"}));
}

TEST(Embed, SaysWhatItNeeds) {
  EXPECT_TRUE(failed(encdec_command({"embed"}), 2, {"--model", "embed"}));
  const TemporaryFolder folder;
  const std::string file = folder.write("file", "5\n");
  EXPECT_TRUE(failed(encdec_command({"embed", "--input", file, "--output", file, "--model", golden_model("text")}), 2,
                     {"--output " + file + ": the same file as --input"}));
  EXPECT_THAT(run_with_typed("a\n\x04", {"embed", "--model", golden_model("text")}).errors,
              testing::HasSubstr("reading lines from the terminal; "));
}

}  // namespace
}  // namespace encdec
