// encdec bench: one JSON object.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/tools/files.h"
#include "tests/tools/generate_command.h"

namespace encdec {
namespace {

TEST(Bench, TellsItsFiguresForGreedyAndBeamSearch) {
  for (const char* beams : {"1", "4"}) {
    const Finished finished =
        encdec_command({"bench", "--model", golden_model("text"), "--source-length", "5", "--target-length", "40",
                        "--batch-size", "3", "--repetitions", "1", "--num-beams", beams});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    const auto figures = nlohmann::json::parse(finished.output);
    for (const char* key : {"best_seconds", "median_seconds", "tokens_per_second", "step_milliseconds",
                            "encode_milliseconds", "gflops", "weight_gigabytes_per_second"}) {
      ASSERT_TRUE(figures.contains(key)) << key;
      EXPECT_GT(figures[key].get<double>(), 0) << key;
    }
    // Tokens of the best hypotheses, however many beams there are.
    EXPECT_NEAR(figures["tokens_per_second"].get<double>() * figures["best_seconds"].get<double>(), 3 * 40, 1e-6);
  }
}

}  // namespace
}  // namespace encdec
