// Tests the output of encdec generate.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "tests/tools/command.h"
#include "tests/tools/files.h"
#include "tests/tools/generate_command.h"

namespace encdec {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class GenerateGolden : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Marian, GenerateGolden, testing::ValuesIn(golden_names()),
                         [](const auto& test) { return test.param; });

TEST_P(GenerateGolden, TokenIdsMatchTransformers) {
  const Finished finished = run_generate(GetParam(), {"--token-ids"}, golden_sources(GetParam()));
  EXPECT_EQ(finished.output, golden_outputs(GetParam()));
  EXPECT_EQ(finished.errors, "");
  EXPECT_EQ(finished.status, 0);
}

TEST(Generate, TextMatchesTransformers) {
  for (const char* name : {"text", "text_separate"}) {
    std::vector<std::string> sources, outputs;
    const json expected = golden_tokenizer(name);
    for (const json& pair : expected.at("generate")) {
      sources.push_back(pair.at("text"));
      outputs.push_back(pair.at("output"));
    }
    const Finished finished = run_generate(name, {}, join_lines(sources));
    EXPECT_EQ(finished.output, join_lines(outputs)) << name;
    EXPECT_EQ(finished.status, 0);
  }
}

TEST(Generate, AnEmptyInputGivesAnEmptyOutputFile) {
  const TemporaryFolder folder;
  const std::string input = folder.write("in", "");
  const Finished finished = run_generate("text", {"--input", input, "--output", folder.path("out")}, {});
  EXPECT_EQ(finished.status, 0) << finished.errors;
  EXPECT_EQ(folder.read("out"), "");
  EXPECT_THAT(folder.names(), ElementsAre("in", "out"));
}

// Without options for threads and workers: a file large enough for several workers, and a pipe, which gets one worker.
TEST(Generate, ResultsDoNotDependOnTheSplitOfCpus) {
  ::setenv("ENCDEC_THREADS", "3", 1);
  std::string sources;
  while (sources.size() < 30'000) sources += golden_sources("gelu_sharded");
  const TemporaryFolder folder;
  const std::string file = folder.write("sources", sources);
  const std::string expected = run_generate("gelu_sharded", {"--token-ids"}, sources).output;
  EXPECT_EQ(std::ranges::count(expected, '\n'), std::ranges::count(sources, '\n'));
  for (const char* workers : {"0", "2"}) {
    EXPECT_EQ(run_generate("gelu_sharded", {"--token-ids", "--input", file, "--workers", workers}, "").output,
              expected);
  }
  ::unsetenv("ENCDEC_THREADS");
}

// More lines than are read at a time, with lengths that change from line to line.
TEST(Generate, ALongInputKeepsItsOrder) {
  const auto sources = split_lines(golden_sources("shared_swish"));
  const auto outputs = split_lines(golden_outputs("shared_swish"));
  std::string input, expected;
  for (std::size_t i = 0; i < 2500; ++i) {
    const std::size_t row = i * i % (sources.size() + 1);
    input += (row < sources.size() ? sources[row] : "") + "\n";
    expected += (row < sources.size() ? outputs[row] : "") + "\n";
  }
  const Finished finished = run_generate("shared_swish", {"--token-ids"}, input);
  EXPECT_EQ(finished.status, 0) << finished.errors;
  EXPECT_TRUE(finished.output == expected);
}

TEST(Generate, ALimitThatTheUserDidNotChooseIsToldOnce) {
  const auto errors = [](const std::string& model, std::vector<std::string> options, const std::string& input) {
    options.insert(options.begin(), {"generate", "--model", std::string(ENCDEC_GOLDEN_DIR "/") + model + "/model"});
    return encdec_command(std::move(options), input).errors;
  };
  const auto told = [](const char* count) {
    return fmt::format(
        "encdec: warning: {} results reached the model's limit of tokens, so their ends may be missing\n", count);
  };
  const std::string texts = "cat\nA small bird sings.\n\n";
  EXPECT_EQ(errors("marian/text", {}, texts), told("2 of 3"));
  EXPECT_EQ(errors("marian/text", {"--quiet"}, texts), "");
  EXPECT_EQ(errors("marian/text", {"--max-new-tokens", "3"}, texts), "");
  EXPECT_EQ(errors("marian/text", {"--max-length-factor", "0.1"}, texts), "");
  // More than there are positions.
  EXPECT_EQ(errors("bart/base", {"--token-ids", "--max-new-tokens", "4000"}, "5 6 7\n8 9\n"), told("1 of 2"));
  // A model that continues a text.
  EXPECT_EQ(errors("gpt2/with_prefix", {"--token-ids"}, "5 6 7\n"), "");
}

TEST(Generate, ALineOfTenThousandTokensIsProcessedLikeOthers) {
  std::string text;
  for (int i = 0; i < 10'000; ++i) text += "the ";
  const Finished finished = run_generate("text", {"--max-new-tokens", "2"}, "a\n" + text + "\na\n");
  EXPECT_EQ(finished.status, 0) << finished.errors;
  const auto lines = split_lines(finished.output);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0], lines[2]);
}

TEST(Generate, SlowInputIsAnsweredLineByLine) {
  const auto sources = split_lines(golden_sources("odd_sizes"));
  const auto outputs = split_lines(golden_outputs("odd_sizes"));
  Process process = start_generate("odd_sizes", {"--token-ids"});
  for (std::size_t i = 0; i < sources.size(); ++i) {
    process.write(sources[i] + "\n");
    EXPECT_EQ(process.read_line(), outputs[i]);
  }
  const Finished finished = process.wait();
  EXPECT_EQ(finished.output, "");
  EXPECT_EQ(finished.status, 0) << finished.errors;
}

TEST(Commands, AnswerSlowInputLineByLine) {
  const TemporaryFolder folder;
  const std::string targets = folder.write("targets", "b\nb\n");
  for (std::vector<std::string> words : {std::vector<std::string>{"tokenize"}, {"score", "--target", targets}}) {
    SCOPED_TRACE(words.front());
    words.insert(words.begin(), kEncdec);
    words.insert(words.end(), {"--model", golden_model("text")});
    Process process(words);
    for (int line = 0; line < 2; ++line) {
      process.write("a\n");
      EXPECT_NE(process.read_line(), "");
    }
    EXPECT_EQ(process.wait().status, 0);
  }
}

TEST(Generate, StatsHaveTheirKeys) {
  const TemporaryFolder folder;
  const auto sources = id_lines(read_tensor(golden_folder("text") / "expected.safetensors", "source_ids"));
  const auto outputs = id_lines(read_tensor(golden_folder("text") / "expected.safetensors", "greedy_ids"));
  const auto words = [](const std::vector<std::string>& lines) {
    std::int64_t count = 0;
    for (const std::string& line : lines) count += std::ranges::count(line, ' ') + 1;
    return count;
  };
  const Finished finished =
      run_generate("text", {"--token-ids", "--batch-size", "2", "--stats", folder.path("stats")}, join_lines(sources));
  ASSERT_EQ(finished.status, 0) << finished.errors;
  EXPECT_THAT(folder.names(), ElementsAre("stats"));
  const json stats = json::parse(folder.read("stats"));
  std::vector<std::string> keys;
  for (const auto& [key, value] : stats.items()) {
    keys.push_back(key);
    const bool counts_drafts =
        key == "draft_tokens" || key == "accepted_tokens" || key == "rounds" || key == "tokens_per_round";
    EXPECT_EQ(value.get<double>() > 0, !counts_drafts) << key;
  }
  EXPECT_THAT(keys, testing::UnorderedElementsAre("load_seconds", "encode_seconds", "decode_seconds", "total_seconds",
                                                  "source_tokens", "generated_tokens", "tokens_per_second",
                                                  "peak_resident_bytes", "draft_tokens", "accepted_tokens", "rounds",
                                                  "tokens_per_round"));
  EXPECT_EQ(stats["source_tokens"], words(sources));
  EXPECT_EQ(stats["generated_tokens"], words(outputs));
  EXPECT_GE(stats["total_seconds"], stats["load_seconds"].get<double>() + stats["encode_seconds"].get<double>() +
                                        stats["decode_seconds"].get<double>());
}

TEST(Generate, IgnoredSettingsAreReported) {
  const TemporaryFolder folder;
  std::filesystem::copy(golden_model("text"), folder.path("model"));
  json settings = json::parse(folder.read("model/generation_config.json"));
  settings["penalty_alpha"] = 0.6;
  folder.write("model/generation_config.json", settings.dump());
  const Finished loud = encdec_command({"generate", "--model", folder.path("model")}, "a\n");
  EXPECT_EQ(loud.status, 0);
  EXPECT_THAT(loud.errors, HasSubstr("penalty_alpha 0.6"));
  EXPECT_EQ(split_lines(loud.errors).size(), 1u);
  EXPECT_EQ(loud.output, encdec_command({"generate", "--quiet", "--model", golden_model("text")}, "a\n").output);
}

TEST(Generate, TheOutputFileGetsItsNameWhenItIsComplete) {
  const TemporaryFolder folder;
  folder.write("out", "old\n");
  const std::string input = folder.write("in", golden_sources("text"));
  std::filesystem::create_symlink("out", folder.path("link"));
  const Finished finished =
      run_generate("text", {"--token-ids", "--input", input, "--output", folder.path("link")}, "not read\n");
  EXPECT_EQ(finished.status, 0) << finished.errors;
  EXPECT_EQ(finished.output, "");
  EXPECT_EQ(folder.read("out"), golden_outputs("text"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path("link")));
  EXPECT_THAT(folder.names(), ElementsAre("in", "link", "out"));
}

TEST(Generate, TheOutputFileMayBeTheInputFile) {
  const TemporaryFolder folder;
  const std::string file = folder.write("file", golden_sources("text"));
  EXPECT_EQ(run_generate("text", {"--token-ids", "--input", file, "--output", file}, {}).status, 0);
  EXPECT_EQ(folder.read("file"), golden_outputs("text"));
}

TEST(Generate, OutputThroughADanglingLinkIsWrittenToItsTarget) {
  const TemporaryFolder folder;
  std::filesystem::create_symlink("later", folder.path("link"));
  std::filesystem::create_symlink("link", folder.path("first"));
  EXPECT_EQ(run_generate("text", {"--output", folder.path("first")}, "a\n").status, 0);
  EXPECT_THAT(folder.names(), ElementsAre("first", "later", "link"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path("first")) && std::filesystem::is_symlink(folder.path("link")));
  EXPECT_EQ(folder.read("later"), run_generate("text", {}, "a\n").output);
}

TEST(Generate, AtATerminalItSaysOnceHowItsInputEnds) {
  const std::string model = golden_model("text"), note = "encdec: info: reading lines from the terminal; ";
  const Finished finished = run_with_typed("a\na\n\x04", {"generate", "--num-beams", "1", "--model", model});
  EXPECT_EQ(finished.status, 0);
  EXPECT_EQ(finished.output, run_generate("text", {}, "a\na\n").output);
  EXPECT_THAT(finished.errors, StartsWith(note));
  EXPECT_EQ(split_lines(finished.errors).size(), 1u);
  const TemporaryFolder folder;
  const std::string target = folder.write("target", "a\n");
  EXPECT_THAT(run_with_typed("a\n\x04", {"score", "--model", model, "--target", target}).errors, StartsWith(note));
  EXPECT_EQ(run_with_typed("a\n\x04", {"generate", "--quiet", "--model", model}).errors, "");
  EXPECT_EQ(run_with_typed("", {"generate", "--model", model, "--input", "/dev/null"}).errors, "");
}

}  // namespace
}  // namespace encdec
