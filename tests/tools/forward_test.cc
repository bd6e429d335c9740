// Tests encdec forward: logits and encoder states of given tokens in a .safetensors file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "tests/tools/command.h"
#include "tests/tools/files.h"

namespace encdec {
namespace {

using testing::ElementsAre;

Finished run_forward(std::string_view model, const std::string& sources, const std::string& targets,
                     const TemporaryFolder& folder, std::vector<std::string> options = {}) {
  options.insert(options.begin(),
                 {"forward", "--model", golden_model(model), "--input", folder.write("sources", sources),
                  "--decoder-input", folder.write("targets", targets), "--output", folder.path("out.safetensors")});
  return encdec_command(std::move(options));
}

void expect_close(const Tensor& found, const Tensor& expected) {
  ASSERT_EQ(found.shape(), expected.shape());
  double largest = 0, worst = 0;
  for (std::int64_t i = 0; i < expected.elements(); ++i) {
    const double a = found.data<float>()[i], b = expected.data<float>()[i];
    if (b == 0) {
      ASSERT_EQ(a, 0) << "padding at element " << i;
    }
    largest = std::max(largest, std::abs(b));
    worst = std::max(worst, std::abs(a - b));
  }
  EXPECT_GT(largest, 0);
  EXPECT_LE(worst, 2e-5 * largest);
}

class ForwardGolden : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Marian, ForwardGolden, testing::ValuesIn(golden_names()),
                         [](const auto& test) { return test.param; });

TEST_P(ForwardGolden, TensorsMatchTransformers) {
  const auto file = golden_folder(GetParam()) / "expected.safetensors";
  const std::string sources = join_lines(id_lines(read_tensor(file, "source_ids")));
  const std::string targets = join_lines(id_lines(read_tensor(file, "target_ids")));
  std::string first;
  for (const char* batch_size : {"8", "3", "1"}) {
    const TemporaryFolder folder;
    const Finished finished = run_forward(GetParam(), sources, targets, folder, {"--batch-size", batch_size});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    EXPECT_EQ(finished.output + finished.errors, "");
    EXPECT_THAT(folder.names(), ElementsAre("out.safetensors", "sources", "targets"));
    for (const char* name : {"logits", "encoder_last_hidden_state"}) {
      expect_close(read_tensor(folder.path("out.safetensors"), name), read_tensor(file, name));
    }
    const std::string bytes = folder.read("out.safetensors");
    if (first.empty()) first = bytes;
    EXPECT_TRUE(bytes == first) << "batch size " << batch_size;
  }
}

TEST(Forward, EmptyInputGivesEmptyTensors) {
  const TemporaryFolder folder;
  const Finished finished = run_forward("text", "", "", folder);
  ASSERT_EQ(finished.status, 0) << finished.errors;
  EXPECT_EQ(read_tensor(folder.path("out.safetensors"), "logits").shape(), Shape({0, 0, 179}));
  EXPECT_EQ(read_tensor(folder.path("out.safetensors"), "encoder_last_hidden_state").shape(), Shape({0, 0, 16}));
}

struct BadInput {
  const char* sources;
  const char* targets;
  std::vector<std::string> message;
};

TEST(Forward, BadInputIsNamedAndLeavesNoFile) {
  const std::vector<BadInput> table = {
      {"5 0\n\n", "178\n178\n", {"sources:2", "empty"}},
      {"5 0\n", "\n", {"targets:1", "empty"}},
      {"5 0\n6 0\n", "178\n", {"sources:2", "targets has only 1 lines"}},
      {"5 0\n", "178\n178\n178\n", {"targets:2", "sources has only 1 lines"}},
      {"5 179\n", "178\n", {"sources:1", "'179'", "0 to 178"}},
      {"5 0\n", "178 -2\n", {"targets:1", "'-2'", "0 to 178"}},
  };
  for (const BadInput& bad : table) {
    const TemporaryFolder folder;
    EXPECT_TRUE(failed(run_forward("text", bad.sources, bad.targets, folder), 1, bad.message));
    EXPECT_THAT(folder.names(), ElementsAre("sources", "targets"));
  }
}

TEST(Forward, OutputMustBeAWritableFile) {
  const TemporaryFolder folder;
  const std::string ids = folder.write("ids", "5 0\n");
  const auto to = [&](const char* output) {
    return encdec_command(
        {"forward", "--model", golden_model("text"), "--input", ids, "--decoder-input", ids, "--output", output});
  };
  EXPECT_TRUE(failed(to("/dev/full"), 1, {"/dev/full", "regular file"}));
  EXPECT_TRUE(failed(to("/nowhere/out"), 1, {"/nowhere/out", "No such file"}));
}

}  // namespace
}  // namespace encdec
