// Tests encdec generate --shard, and limiting instruction sets so that machines give the same bytes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/tools/command.h"
#include "tests/tools/files.h"
#include "tests/tools/generate_command.h"

namespace encdec {
namespace {

using testing::HasSubstr;

// Returns the name of a shard: "OUTPUT-00002-of-00005" for shard 2 of 5.
std::string shard_of(const std::string& output, int number, int count) {
  const auto digits = [](int n) { return std::string(5 - std::to_string(n).size(), '0') + std::to_string(n); };
  return output + "-" + digits(number) + "-of-" + digits(count);
}

Finished run_all(const std::string& input, const std::string& output, const std::vector<std::string>& more = {}) {
  std::vector<std::string> options = {"--token-ids", "--max-new-tokens", "6", "--input", input, "--output", output};
  options.insert(options.end(), more.begin(), more.end());
  return run_generate("shared_swish", options, {});
}

Finished run_shard(const std::string& input, const std::string& output, int number, int count,
                   std::vector<std::string> more = {}) {
  more.insert(more.end(), {"--shard", std::to_string(number) + "/" + std::to_string(count)});
  return run_all(input, output, more);
}

TEST(Shards, JoinToTheWholeOutput) {
  const TemporaryFolder folder;
  const std::string inputs[] = {"1 2 3\n4\n\n5 6 7 8 9 10 11 12\n2 2\n3\n",
                                "1 2\r\n3\r\n",
                                "7 8 9",
                                "",
                                "\n\n\n",
                                golden_sources("shared_swish")};
  for (const std::string& text : inputs) {
    const std::string input = folder.path("input"), output = folder.path("output");
    std::ofstream(input) << text;
    ASSERT_EQ(run_all(input, output).status, 0);
    for (const int count : {1, 2, 3, 8}) {
      std::string all;
      for (int number = 1; number <= count; ++number) {
        const Finished finished = run_shard(input, output, number, count);
        ASSERT_EQ(finished.status, 0) << finished.errors;
        all += read_file(shard_of(output, number, count));
      }
      EXPECT_EQ(all, read_file(output)) << text << count;
    }
    EXPECT_EQ(run_shard(input, input, 1, 1).status, 0) << "the names of shards differ from the input's";
  }
}

TEST(Shards, FinishedShardsAreSkipped) {
  const TemporaryFolder folder;
  const std::string input = folder.path("input"), output = folder.path("output"), first = shard_of(output, 1, 2);
  std::ofstream(input) << "1 2 3\n4 5\n6\n7\n";
  ASSERT_EQ(run_shard(input, output, 1, 2).status, 0);
  const auto manifest = nlohmann::json::parse(read_file(first + ".json"));
  EXPECT_EQ(manifest["shard"], 1);
  EXPECT_EQ(manifest["shards"], 2);
  EXPECT_EQ(manifest["lines"], 2);
  EXPECT_EQ(manifest["fingerprint"].get<std::string>().size(), 32u);

  const std::string mark = "kept\n";
  const auto is_done_again = [&](const std::vector<std::string>& more) {
    std::ofstream(first) << mark;
    const Finished finished = run_shard(input, output, 1, 2, more);
    EXPECT_EQ(finished.status, 0) << finished.errors;
    return read_file(first) != mark;
  };
  EXPECT_FALSE(is_done_again({}));
  EXPECT_FALSE(is_done_again({"--threads", "1", "--batch-size", "1"}));  // results do not depend on these options
  EXPECT_TRUE(is_done_again({"--num-beams", "2"}));
  EXPECT_TRUE(is_done_again({}));
  std::filesystem::remove(first + ".json");
  EXPECT_TRUE(is_done_again({}));
  std::ofstream(first + ".json") << "{}";
  EXPECT_TRUE(is_done_again({}));
  std::ofstream(input) << "1 2 4\n4 5\n6\n7\n";
  EXPECT_TRUE(is_done_again({}));
  std::ofstream(input) << "1 2 4\n4 5\n8\n9\n";  // changes only the lines of the other shard
  EXPECT_FALSE(is_done_again({}));
  std::filesystem::remove(first);
  EXPECT_EQ(run_shard(input, output, 1, 2).status, 0);
  EXPECT_TRUE(std::filesystem::exists(first));
}

TEST(Shards, MessagesNameTheShard) {
  const TemporaryFolder folder;
  const std::string input = folder.path("input"), output = folder.path("output");
  std::ofstream(input) << "1 2 3\n4 5\n6\nx\n";
  EXPECT_TRUE(failed(run_shard(input, output, 2, 2), 1, {"input (shard 2/2):2", "'x'"}));
  EXPECT_FALSE(std::filesystem::exists(shard_of(output, 2, 2) + ".json"));
  EXPECT_TRUE(failed(run_shard("/dev/null", output, 1, 2), 1, {"/dev/null", "not a regular file"}));
  for (const char* shard : {"0/2", "3/2", "1", "1/", "/2", "a/b", "1/2/3", "-1/2", "1/100000"}) {
    EXPECT_TRUE(failed(run_all(input, output, {"--shard", shard}), 2, {"--shard", shard, "I/N"})) << shard;
  }
  EXPECT_TRUE(failed(encdec_command({"generate", "--model", "x", "--shard", "1/2"}), 2, {"--input"}));
  EXPECT_TRUE(failed(run_shard(input, output, 1, 2, {"--prefix-file", input}), 2, {"--prefix-file"}));
}

#if defined(__x86_64__)
TEST(InstructionLimit, MachinesWithTheSameLimitGiveTheSameBytes) {
  const auto run_with = [](const std::string& limit) {
    return run({{"/usr/bin/env", limit, kEncdec, "generate", "--quiet", "--json", "--token-scores", "--model",
                 golden_model("shared_swish"), "--token-ids"},
                golden_sources("shared_swish"),
                {},
                {}});
  };
  const Finished limited = run_with("ENCDEC_MAX_ISA=sse4.1");
  EXPECT_EQ(limited.status, 0) << limited.errors;
  EXPECT_EQ(limited.output, run_with("ONEDNN_MAX_CPU_ISA=SSE41").output);
  EXPECT_EQ(run_with("ENCDEC_MAX_ISA=").status, 0);
  EXPECT_TRUE(failed(run_with("ENCDEC_MAX_ISA=avx3"), 1, {"ENCDEC_MAX_ISA", "avx3", "expected sse4.1, avx2"}));
}
#endif

}  // namespace
}  // namespace encdec
