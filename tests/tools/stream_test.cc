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

void expect_same(const char* model, std::vector<std::string> options, const std::string& input) {
  const std::string whole = run_generate(model, options, input).output;
  options.emplace_back("--stream");
  const Finished streamed = run_generate(model, options, input);
  EXPECT_EQ(streamed.output, whole) << model << " " << testing::PrintToString(options);
  EXPECT_EQ(streamed.status, 0) << streamed.errors;
}

TEST(Stream, GivesTheSameOutput) {
  for (const char* name : {"text", "text_separate"}) {
    for (const char* beams : {"1", "4"}) {
      for (const char* batch_size : {"1", "3", "0"}) {
        for (const char* workers : {"1", "2"}) {
          expect_same(name, {"--num-beams", beams, "--batch-size", batch_size, "--workers", workers}, kLines);
        }
      }
    }
  }
}

TEST(Stream, GivesTheSameTokenIds) {
  for (const char* name : {"text", "gelu_sharded", "odd_sizes", "forced_bos"}) {
    for (const char* beams : {"1", "3"}) expect_same(name, {"--token-ids", "--num-beams", beams}, golden_sources(name));
  }
}

TEST(Stream, BeginsWithThePrefix) {
  const TemporaryFolder folder;
  expect_same("text", {"--token-ids", "--prefix-file", folder.write("prefix", "7 9\n\n11\n")},
              "20 3 0\n4 0\n30 31 32 0\n");
}

// The whole generation would take hours.
const std::vector<std::string> kEndless = {"--stream", "--max-new-tokens", "1000000", "--min-new-tokens", "1000000"};

TEST(Stream, AReaderGetsTheFirstTokenBeforeTheLast) {
  for (const bool as_ids : {true, false}) {
    std::vector<std::string> options = kEndless;
    if (as_ids) options.emplace_back("--token-ids");
    Process process = start_generate("text", options);
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
  Process process = start_generate("text", kEndless);
  process.write("a\n");
  process.read(1);
  process.close_output();
  const Finished finished = process.wait();
  EXPECT_EQ(finished.status, 1);
  EXPECT_EQ(finished.errors, "");
}

}  // namespace
}  // namespace encdec
