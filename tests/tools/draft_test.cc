// Tests the options of encdec generate of speculative decoding: they change the time, never the output.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/tools/files.h"
#include "tests/tools/generate_command.h"

namespace encdec {
namespace {

using nlohmann::json;

class Drafts : public testing::Test {
 protected:
  // Generates from the golden sources. Returns the counts of --stats, and expects the golden outputs.
  json generate(std::vector<std::string> options) {
    options.insert(options.end(), {"--stats", folder_.path("stats")});
    const Finished finished = run_generate("text", std::move(options), golden_sources("text"));
    EXPECT_EQ(finished.status, 0) << finished.errors;
    EXPECT_EQ(finished.output, golden_outputs("text"));
    return json::parse(folder_.read("stats"));
  }

  TemporaryFolder folder_;
};

TEST_F(Drafts, AreCheckedAndCounted) {
  const json right = generate({"--token-ids", "--draft-file", folder_.write("draft", golden_outputs("text"))});
  EXPECT_GT(right["draft_tokens"], 0);
  EXPECT_EQ(right["accepted_tokens"], right["draft_tokens"]);
  EXPECT_LT(right["rounds"], right["draft_tokens"]);
  EXPECT_GT(right["tokens_per_round"], 2.0);
  auto lines = split_lines(golden_outputs("text"));
  std::ranges::rotate(lines, lines.begin() + 1);
  const json wrong = generate({"--token-ids", "--draft-file", folder_.write("draft", join_lines(lines))});
  EXPECT_LT(wrong["accepted_tokens"], wrong["draft_tokens"]);
  const json none = generate({"--token-ids"});
  EXPECT_EQ(none["draft_tokens"], 0);
  EXPECT_EQ(none["rounds"], 0);
  EXPECT_EQ(none["tokens_per_round"], 0.0);
}

TEST_F(Drafts, ComeFromTheSourceEarlierOccurrencesAndALowerPrecision) {
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{"--draft-source"},
        {"--draft-source", "--num-assistant-tokens", "2"},
        {"--prompt-lookup-num-tokens", "3"},
        {"--draft-precision", "int8"},
        {"--draft-precision", "bfloat16", "--num-assistant-tokens", "auto", "--batch-size", "1"}}) {
    std::vector<std::string> with_ids = options;
    with_ids.emplace_back("--token-ids");
    EXPECT_GT(generate(with_ids)["draft_tokens"], 0) << options.front();
  }
}

// A pad token in a result of M2M100 is no position: what is read together with it lies one position earlier.
TEST_F(Drafts, EndAtAPadToken) {
  const auto generate = [&](std::vector<std::string> options) {
    options.insert(options.end(),
                   {"--token-ids", "--do-sample", "--temperature", "1.3", "--seed", "3", "--max-new-tokens", "40"});
    return run_generate("../m2m_100/forced_bos", std::move(options), "10 13 12 4 12 3 17 16 10 7\n").output;
  };
  const std::string result = generate({});
  ASSERT_THAT(result, testing::ContainsRegex(" 1 .* ")) << "no pad token";
  EXPECT_EQ(generate({"--draft-file", folder_.write("draft", result)}), result);
  EXPECT_EQ(generate({"--draft-precision", "int8"}), result);
}

TEST_F(Drafts, AreMadeByNoSearchWithBeams) {
  const Finished noted = encdec_command(
      {"generate", "--model", golden_model("text"), "--token-ids", "--num-beams", "3", "--draft-source"}, "5 0\n");
  EXPECT_THAT(noted.errors, testing::HasSubstr("search with 3 beams does not support them"));
}

}  // namespace
}  // namespace encdec
