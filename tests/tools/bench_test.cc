// Tests encdec bench.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "encdec/models/model.h"
#include "tests/support/temp_folder.h"
#include "tests/tools/files.h"
#include "tests/tools/generate_command.h"

namespace encdec {
namespace {

TEST(Bench, ReportsItsFiguresForGreedyAndBeamSearch) {
  for (const char* beams : {"1", "4"}) {
    const Finished finished =
        encdec_command({"bench", "--model", golden_model("text"), "--source-length", "5", "--target-length", "40",
                        "--batch-size", "3", "--repetitions", "1", "--num-beams", beams});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    const auto figures = nlohmann::json::parse(finished.output);
    for (const char* key : {"best_seconds", "median_seconds", "tokens_per_second", "step_milliseconds",
                            "step_median_milliseconds", "step_p99_milliseconds", "encode_milliseconds", "gflops",
                            "weight_gigabytes_per_second", "load_seconds", "peak_resident_bytes"}) {
      ASSERT_TRUE(figures.contains(key)) << key;
      EXPECT_GT(figures[key].get<double>(), 0) << key;
    }
    // Only the tokens of the best hypotheses count, with any number of beams.
    EXPECT_NEAR(figures["tokens_per_second"].get<double>() * figures["best_seconds"].get<double>(), 3 * 40, 1e-6);
  }
}

std::string checksum(const std::vector<std::string>& options) {
  std::vector<std::string> arguments{"bench",         "--model", golden_model("text"), "--target-length", "8",
                                     "--repetitions", "1"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  const Finished finished = encdec_command(arguments);
  EXPECT_EQ(finished.status, 0) << finished.errors;
  return nlohmann::json::parse(finished.output)["generated_token_ids_checksum"];
}

TEST(Bench, ChecksumDependsOnTheGeneratedTokens) {
  const std::string one = checksum({});
  EXPECT_EQ(one.size(), 16U);
  EXPECT_EQ(one, checksum({"--threads", "2"}));
  EXPECT_NE(one, checksum({"--seed", "2"}));
}

TEST(Bench, WithOneStepThereIsNoTimeBetweenSteps) {
  const Finished finished =
      encdec_command({"bench", "--model", golden_model("text"), "--target-length", "1", "--repetitions", "1"});
  ASSERT_EQ(finished.status, 0) << finished.errors;
  const auto figures = nlohmann::json::parse(finished.output);
  EXPECT_TRUE(figures["step_median_milliseconds"].is_null());
  EXPECT_TRUE(figures["step_p99_milliseconds"].is_null());
}

TEST(Bench, ProfileHasEveryRunOfEveryNodeInOrderWithinACall) {
  constexpr int kSteps = 6, kCalls = 2;
  constexpr double kRounding = 1e-3;  // microseconds; sums of times in nanoseconds are rounded
  const TempFolder folder;
  const std::string model = golden_model("text");
  const Finished finished =
      encdec_command({"bench", "--model", model, "--batch-size", "2", "--target-length", std::to_string(kSteps),
                      "--repetitions", std::to_string(kCalls), "--profile", folder / "trace.json"});
  ASSERT_EQ(finished.status, 0) << finished.errors;
  EXPECT_TRUE(nlohmann::json::parse(finished.output).is_object());

  std::ifstream file(folder / "trace.json");
  const auto trace = nlohmann::json::parse(file);
  std::map<int, std::string> tracks;
  std::map<std::string, int> runs;  // key: "graph: node"
  double call_begin = 0, call_end = 0, calls = 0, nodes = 0;
  std::vector<std::pair<double, double>> spans;
  for (const auto& event : trace["traceEvents"]) {
    const int track = event["tid"];
    ASSERT_EQ(event["pid"], 1);
    if (event["ph"] == "M") {
      EXPECT_TRUE(tracks.emplace(track, event["args"]["name"]).second);
      continue;
    }
    ASSERT_EQ(event["ph"], "X");
    const double begin = event["ts"], duration = event["dur"];
    ++runs[tracks.at(track) + ": " + event["name"].get<std::string>()];
    ASSERT_GE(duration, 0);
    if (tracks.at(track) == "generate") {
      EXPECT_GE(begin, call_end - kRounding);
      if (calls == 0) call_begin = begin;
      call_end = begin + duration;
      calls += duration;
    } else {
      nodes += duration;
      spans.emplace_back(begin, begin + duration);
    }
  }
  EXPECT_GT(nodes, 0);
  EXPECT_LE(nodes, calls);
  double last = call_begin;
  for (const auto& [begin, end] : spans) {
    EXPECT_GE(begin, last - kRounding);
    last = end;
  }
  EXPECT_LE(last, call_end + kRounding);

  std::map<std::string, int> expected{{"generate: generate", kCalls}};
  const auto network = Model::load(model).network();
  for (const Executor* executor : network->graphs()) {
    const Graph& graph = executor->graph();
    for (const Graph::Node& node : graph.nodes()) {
      if (node.layer == nullptr) continue;
      expected[graph.name() + ": " + node.name] = graph.name() == "encoder" ? kCalls : kCalls * kSteps;
      EXPECT_THAT(finished.errors, testing::HasSubstr("\n" + node.name + " "));
    }
  }
  EXPECT_EQ(runs, expected);
}

TEST(Bench, ProfileWithoutAFileIsATableOnStandardErrorOnly) {
  const Finished finished = encdec_command(
      {"bench", "--model", golden_model("text"), "--target-length", "4", "--repetitions", "1", "--profile"});
  ASSERT_EQ(finished.status, 0) << finished.errors;
  EXPECT_TRUE(nlohmann::json::parse(finished.output).is_object());
  EXPECT_THAT(finished.errors, testing::StartsWith("node "));
  for (const char* part : {"\nadd_norm ", "\nnodes ", "\nencode, outside", "\ndecode, outside", "\nsearch, "}) {
    EXPECT_THAT(finished.errors, testing::HasSubstr(part));
  }
}

}  // namespace
}  // namespace encdec
