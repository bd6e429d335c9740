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

TEST(Forward, AnEncoderOnlyModelReturnsItsLastHiddenState) {
  const TemporaryFolder folder;
  const auto expected = golden_folder("../bert/base") / "expected.safetensors";
  const std::string sources = folder.write("ids", join_lines(id_lines(read_tensor(expected, "source_ids"))));
  const std::string output = folder.path("out.safetensors");
  const std::vector<std::string> arguments{"forward",  "--model", golden_model("../bert/base"), "--input", sources,
                                           "--output", output};
  const Finished finished = encdec_command(arguments);
  ASSERT_EQ(finished.status, 0) << finished.errors;
  EXPECT_EQ(read_tensor(output, "last_hidden_state").shape(), read_tensor(expected, "last_hidden_state").shape());
  EXPECT_THROW(read_tensor(output, "logits"), std::exception);
}

TEST(Forward, ADecoderOnlyModelReadsEitherInput) {
  const TemporaryFolder folder;
  const auto expected = golden_folder("../gpt2/with_prefix") / "expected.safetensors";
  const std::string ids = folder.write("ids", join_lines(id_lines(read_tensor(expected, "target_ids"))));
  std::string first;
  for (const char* option : {"--input", "--decoder-input"}) {
    const Finished finished = encdec_command({"forward", "--model", golden_model("../gpt2/with_prefix"), option, ids,
                                              "--output", folder.path("out.safetensors")});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    EXPECT_EQ(read_tensor(folder.path("out.safetensors"), "logits").shape(), read_tensor(expected, "logits").shape());
    const std::string bytes = folder.read("out.safetensors");
    EXPECT_TRUE(first.empty() || bytes == first);
    first = bytes;
  }
}

}  // namespace
}  // namespace encdec
