// Tests the errors of encdec generate, and the files that it leaves behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <thread>
#include <utility>

#include "tests/tools/command.h"
#include "tests/tools/files.h"
#include "tests/tools/generate_command.h"

namespace encdec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Finished run_text_model(std::vector<std::string> options, std::string input = {}) {
  return run_generate("text", std::move(options), std::move(input));
}

TEST(GenerateFailure, LinesBeforeABadOneAreKept) {
  const TemporaryFolder folder;
  const std::string input = folder.write("in", "a\nab\xff\na\n"), output = folder.path("out");
  EXPECT_TRUE(failed(run_text_model({"--input", input, "--output", output}), 1,
                     {input + ":2: byte 3 is 0xff", "the output of the first 1 lines is in " + output + "."}));
  EXPECT_THAT(folder.names(), ElementsAre("in", folder.partial()));
  EXPECT_EQ(folder.read(folder.partial()), run_text_model({}, "a\n").output);
}

TEST(GenerateFailure, NothingIsLeftIfNothingWasFinished) {
  const TemporaryFolder folder;
  folder.write("out", "old");
  const Finished finished = run_text_model({"--output", folder.path("out"), "--stats", folder.path("stats")}, "\xff\n");
  EXPECT_TRUE(failed(finished, 1, {"standard input:1"}));
  EXPECT_THAT(folder.names(), ElementsAre("out"));
  EXPECT_EQ(folder.read("out"), "old");
}

TEST(GenerateFailure, FullDiskIsAnError) {
  EXPECT_TRUE(failed(run_text_model({"--stats", "/dev/full", "--output", "/dev/null"}, "a\n"), 1, {"No space left"}));
  const Finished to_stdout = run(
      {{kEncdec, "generate", "--quiet", "--num-beams", "1", "--model", golden_model("text")}, "a\n", "/dev/full", {}});
  EXPECT_TRUE(failed(to_stdout, 1, {"standard output", "No space left"}));
}

TEST(GenerateFailure, ClosedStandardStreamsAreErrors) {
  const TemporaryFolder folder;
  const std::vector<std::string> arguments = {
      kEncdec,   "generate",           "--quiet",  "--token-ids",     "--num-beams", "1",
      "--model", golden_model("text"), "--output", folder.path("out")};
  EXPECT_TRUE(failed(run({arguments, "", {}, {0}}), 1, {"standard input", "cannot read"}));
  EXPECT_TRUE(failed(run({{arguments.begin(), arguments.end() - 2}, "20 0\n", {}, {1}}), 1, {"standard output"}));
  // Messages must not be written into the output.
  EXPECT_EQ(run({arguments, "20 0\nx\n", {}, {2}}).status, 1);
  EXPECT_EQ(folder.read(folder.partial()), run_text_model({"--token-ids"}, "20 0\n").output);
}

TEST(GenerateFailure, AReaderThatClosesThePipeEndsItSilently) {
  Process process({kEncdec, "generate", "--model", golden_model("odd_sizes"), "--token-ids"});
  process.write("3 0\n");
  process.read_line();
  process.close_output();
  process.write("3 0\n");
  const Finished finished = process.wait();
  EXPECT_EQ(finished.status, 1);
  EXPECT_EQ(finished.errors, "");
}

TEST(GenerateFailure, ASignalStopsItAndKeepsFinishedLines) {
  for (const int signal : {SIGINT, SIGTERM}) {
    Process process = start_generate("text", {});
    process.write("a\n");
    EXPECT_FALSE(process.read_line().empty());
    process.send(signal);
    const Finished finished = process.wait();
    EXPECT_TRUE(failed(finished, 128 + signal, {signal == SIGINT ? "SIGINT" : "SIGTERM"}));
  }
}

// Far more lines than can be finished before the signal arrives.
TEST(GenerateFailure, ASignalLeavesCompleteLinesOfSeveralWorkers) {
  const TemporaryFolder folder;
  std::vector<std::string> options = {"--token-ids", "--num-beams",      "2", "--max-new-tokens",
                                      "64",          "--min-new-tokens", "64"};
  const std::string line = run_generate("text", options, "20 30 0\n").output;
  std::string input;
  for (int i = 0; i < 200'000; ++i) input += "20 30 0\n";
  options.insert(options.end(), {"--input", folder.write("in", input), "--output", folder.path("out"), "--workers", "2",
                                 "--batch-size", "3"});
  Process process = start_generate("text", options);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (folder.partial().empty() || folder.read(folder.partial()).empty()) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    std::this_thread::yield();
  }
  process.send(SIGINT);
  const Finished finished = process.wait();
  const std::string partial = folder.read(folder.partial());
  const std::size_t lines = split_lines(partial).size();
  EXPECT_TRUE(failed(finished, 128 + SIGINT,
                     {"SIGINT", "the first " + std::to_string(lines) + " lines", folder.path("out") + "."}));
  std::string expected;
  for (std::size_t i = 0; i < lines; ++i) expected += line;
  EXPECT_TRUE(partial == expected);
  EXPECT_THAT(folder.names(), ElementsAre("in", folder.partial()));
}

// The line's number counts from the start of the file, not from the start of the lines that were read together.
TEST(GenerateFailure, ALineThatTheModelRefusesIsNamed) {
  const std::string model = std::string(ENCDEC_GOLDEN_DIR) + "/bart/base/model";
  const TemporaryFolder folder;
  std::string sources = "\n", targets = "\n";
  for (int i = 0; i < 299; ++i) {
    sources += "5 6 2\n";
    targets += "7 2\n";
  }
  std::string too_long;
  for (int i = 0; i < 5000; ++i) too_long += "5 ";
  const Finished finished = encdec_command({"score", "--quiet", "--model", model, "--token-ids", "--target",
                                            folder.write("targets", targets + "7 2\n7 2\n")},
                                           sources + too_long + "\n5 2\n");
  EXPECT_EQ(split_lines(finished.output).size(), 300u);
  EXPECT_TRUE(failed({finished.status, "", finished.errors}, 1, {"standard input:301: ", "5000 tokens"}));
}

TEST(GenerateFailure, AnEndlessLineIsRefused) {
  const TemporaryFolder folder;
  const std::string input = folder.write("in", "a\n" + std::string(17u << 20, 'b'));
  EXPECT_TRUE(failed(run_text_model({"--input", input, "--output", folder.path("out")}), 1, {input + ":2", "bytes"}));
}

}  // namespace
}  // namespace encdec
