// Tests encdec generate --stream, which writes text as it is generated.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "tests/tools/files.h"
#include "tests/tools/generate_command.h"

namespace encdec {
namespace {

constexpr const char* kLines =
    "A small bird sings.\n\na\nHello world, it's me\n\nthe cat sat on the mat and the dog did not\n\xe4\xbd\xa0\n";

TEST(Stream, GivesTheSameOutput) {
  for (const char* name : {"text", "text_separate"}) {
    for (const char* beams : {"1", "4"}) {
      for (const char* batch_size : {"1", "3", "0"}) {
        for (const char* workers : {"1", "2"}) {
          const std::vector<std::string> options = {"--num-beams", beams,       "--batch-size",
                                                    batch_size,    "--workers", workers};
          auto streamed = options;
          streamed.emplace_back("--stream");
          const Finished finished = run_generate(name, streamed, kLines);
          EXPECT_EQ(finished.output, run_generate(name, options, kLines).output) << name << " " << beams;
          EXPECT_EQ(finished.status, 0) << finished.errors;
        }
      }
    }
  }
}

TEST(Stream, GivesTheSameTokenIds) {
  for (const char* name : {"text", "gelu_sharded", "odd_sizes", "forced_bos"}) {
    EXPECT_EQ(run_generate(name, {"--stream", "--token-ids"}, golden_sources(name)).output, golden_outputs(name));
    EXPECT_EQ(run_generate(name, {"--stream", "--token-ids", "--num-beams", "3"}, golden_sources(name)).output,
              run_generate(name, {"--token-ids", "--num-beams", "3"}, golden_sources(name)).output);
  }
}

TEST(Stream, BeginsWithThePrefix) {
  const TemporaryFolder folder;
  const std::string prefixes = folder.write("prefix", "7 9\n\n11\n");
  const std::string sources = join_lines({"20 3 0", "4 0", "30 31 32 0"});
  const std::vector<std::string> options = {"--token-ids", "--prefix-file", prefixes};
  auto streamed = options;
  streamed.emplace_back("--stream");
  EXPECT_EQ(run_generate("text", streamed, sources).output, run_generate("text", options, sources).output);
}

// The whole generation would take hours.
TEST(Stream, AReaderGetsTheFirstTokenBeforeTheLast) {
  for (const bool as_ids : {true, false}) {
    std::vector<std::string> arguments = {
        kEncdec,       "generate", "--quiet",          "--stream", "--model",          golden_model("text"),
        "--num-beams", "1",        "--max-new-tokens", "1000000",  "--min-new-tokens", "1000000"};
    if (as_ids) arguments.emplace_back("--token-ids");
    Process process(arguments);
    process.write(as_ids ? "20 0\n" : "Hello world\n");
    const std::string first = process.read(4);
    EXPECT_EQ(first.size(), 4u);
    EXPECT_EQ(first.find('\n'), std::string::npos);
    process.send(SIGINT);
    const Finished finished = process.wait();
    EXPECT_EQ(finished.status, 128 + SIGINT);
    EXPECT_TRUE(finished.output.ends_with('\n'));  // the message begins on a new line
  }
}

TEST(Stream, AReaderThatClosesThePipeEndsItSilently) {
  Process process({kEncdec, "generate", "--stream", "--token-ids", "--model", golden_model("text"), "--num-beams", "1",
                   "--max-new-tokens", "1000000", "--min-new-tokens", "1000000"});
  process.write("20 0\n");
  process.read(1);
  process.close_output();
  const Finished finished = process.wait();
  EXPECT_EQ(finished.status, 1);
  EXPECT_EQ(finished.errors, "");
}

}  // namespace
}  // namespace encdec
