// Tests the tools when the system fails them: no more threads, missing files, no space for output.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>

#include "encdec/models/checkpoint/safetensors.h"
#include "tests/support/safetensors_writer.h"
#include "tests/tools/command.h"
#include "tests/tools/files.h"
#include "tests/tools/generate_command.h"

namespace encdec {
namespace {

namespace fs = std::filesystem;

// Runs encdec in a shell that first runs `before`, for example to set limits.
Finished run_after(const std::string& before, std::vector<std::string> arguments, std::string input = {},
                   const std::string& output_file = {}) {
  std::vector<std::string> all = {"/bin/sh", "-c", before + "; exec \"$@\"", "sh", kEncdec};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return run({std::move(all), std::move(input), output_file, {}});
}

// Copies a model, which the test may then damage.
std::string copy_of_model(const TemporaryFolder& folder, std::string_view name) {
  fs::copy(golden_model(name), folder.path("model"), fs::copy_options::recursive);
  return folder.path("model");
}

TEST(Limits, ThreadsThatCannotBeStartedAreReportedInOneLine) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need address space";
#endif
  const std::vector<std::string> arguments = {"generate", "--model", golden_model("text"), "--threads", "64"};
  EXPECT_TRUE(failed(run_after("ulimit -v 400000", arguments, "a\n"), 1, {"of 64 cannot be started", "ulimit -u"}));
}

TEST(Limits, ThreadsReserveNoHeapsIfAddressSpaceIsLimited) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need address space";
#endif
  if (!std::string(ENCDEC_EMULATOR).empty()) GTEST_SKIP() << "emulators need address space";
  std::string input;
  for (int line = 0; line < 3000; ++line) input += "a b c d e f\n";
  const std::vector<std::string> arguments = {"generate",           "--quiet",   "--model",
                                              golden_model("text"), "--workers", "64"};
  const Finished finished = run_after("ulimit -s 8192; ulimit -v 800000", arguments, input);
  EXPECT_EQ(finished.status, 0) << finished.errors;
}

// If memory runs out inside a library, the program may end in any way. The output file has its old or its new contents.
TEST(Limits, OutputFilesStayWholeIfMemoryRunsOut) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need address space";
#endif
  if (!std::string(ENCDEC_EMULATOR).empty()) GTEST_SKIP() << "emulators need address space";
  std::string input;
  for (int line = 0; line < 200; ++line) input += "a b c d e f\n";
  const std::string expected = run_generate("text", {}, input).output;
  int failures = 0, successes = 0;
  for (int kilobytes = 20'000; successes < 3; kilobytes += kilobytes / 16) {
    ASSERT_LT(kilobytes, 4'000'000) << "no run succeeds";
    const TemporaryFolder folder;
    folder.write("out", "old");
    const Finished finished = run_after(
        fmt::format("ulimit -c 0; ulimit -v {}", kilobytes),
        {"generate", "--quiet", "--num-beams", "1", "--model", golden_model("text"), "--output", folder.path("out")},
        input);
    (finished.status == 0 ? successes : failures) += 1;
    ASSERT_EQ(folder.read("out"), finished.status == 0 ? expected : "old") << kilobytes << " " << finished.errors;
  }
  EXPECT_GT(failures, 3);
}

TEST(Limits, OfTwoWritersOfOneFileTheLastWins) {
  const TemporaryFolder folder;
  const std::vector<std::string> options = {"--token-ids", "--output", folder.path("out")};
  Process one = start_generate("text", options), other = start_generate("text", options);
  for (int line = 0; line < 3; ++line) {
    one.write("20 0\n");
    other.write("30 31 0\n");
  }
  const std::string line = run_generate("text", {"--token-ids"}, "20 0\n").output;
  EXPECT_EQ(other.wait().status, 0);
  EXPECT_EQ(one.wait().status, 0);
  EXPECT_EQ(folder.read("out"), line + line + line);
  EXPECT_THAT(folder.names(), testing::ElementsAre("out"));
}

TEST(Limits, DanglingLinksAreNotTreatedAsMissingFiles) {
  for (const char* name : {"tokenizer_config.json", "generation_config.json", "config.json", "source.spm"}) {
    const TemporaryFolder folder;
    const std::string model = copy_of_model(folder, "text"), file = model + "/" + name;
    fs::remove(file);
    fs::create_symlink("../blobs/nothing", file);
    EXPECT_TRUE(failed(encdec_command({"generate", "--quiet", "--model", model}, "a\n"), 1,
                       {file + ": a symlink to '../blobs/nothing', which does not exist"}));
    fs::remove(file);
    fs::create_symlink(file, file);
    EXPECT_TRUE(failed(encdec_command({"generate", "--quiet", "--model", model}, "a\n"), 1,
                       {file + ": Too many levels of symbolic links"}));
  }
}

TEST(Limits, FilesThatCannotBeOpenedAreNotCalledTheSameFile) {
  const TemporaryFolder folder;
  fs::create_symlink(folder.path("loop"), folder.path("loop"));
  EXPECT_TRUE(failed(run_generate("text", {"--output", folder.path("loop/a"), "--stats", folder.path("loop/b")}, "a\n"),
                     1, {folder.path("loop/a") + ": cannot open for writing: Too many levels of symbolic links"}));
}

TEST(Limits, OutputThatCannotBeWrittenIsAnError) {
  const std::vector<std::vector<std::string>> commands = {
      {"--help"},
      {"--version"},
      {"--man"},
      {"generate", "--help"},
      {"bench", "--model", golden_model("text"), "--target-length", "1", "--repetitions", "1"},
      {"inspect", "--model", golden_model("text")},
  };
  for (std::vector<std::string> arguments : commands) {
    arguments.insert(arguments.begin(), kEncdec);
    EXPECT_TRUE(failed(run({arguments, "", "/dev/full", {}}), 1, {"standard output", "No space left on device"}))
        << arguments[1];
  }
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"word"}, {"--help"}}) {
    std::vector<std::string> demo = {kEncdecDemo};
    demo.insert(demo.end(), arguments.begin(), arguments.end());
    const Finished finished = run({demo, "", "/dev/full", {}});
    EXPECT_EQ(finished.status, 1);
    EXPECT_EQ(finished.errors, "encdec-demo: standard output: cannot write: No space left on device\n");
  }
}

TEST(Limits, FilesThatReachTheSizeLimitAreReportedInOneLine) {
  const TemporaryFolder folder;
  std::string input;
  for (int line = 0; line < 2000; ++line) input += "a\n";
  const Finished finished = run_after(
      "ulimit -f 1", {"generate", "--quiet", "--model", golden_model("text"), "--output", folder.path("out")}, input);
  EXPECT_TRUE(failed(finished, 1, {folder.path("out") + ": cannot write: File too large"}));
  EXPECT_THAT(folder.names(), testing::ElementsAre(folder.partial()));
}

TEST(Limits, AFileThatIsTruncatedWhileItIsReadIsReportedInOneLine) {
  const TemporaryFolder folder;
  const std::string model = copy_of_model(folder, "untied"), weights = model + "/model.safetensors";
  Process process({kEncdec, "generate", "--quiet", "--token-ids", "--num-beams", "1", "--model", model});
  process.write("5 6 0\n");
  EXPECT_FALSE(process.read_line().empty());
  fs::resize_file(weights, 16);
  process.write("7 8 0\n");  // embeddings are read when they are needed
  EXPECT_TRUE(failed(process.wait(), 1, {weights + ": has become shorter while it was read"}));
}

TEST(Limits, AWeightsCacheThatIsTruncatedWhileInUseIsReportedInOneLine) {
  const TemporaryFolder folder;
  const std::vector<std::string> options = {"--token-ids", "--weights-cache", folder.path("cache")};
  ASSERT_EQ(run_generate("untied", options, "5 6 0\n").status, 0);
  const fs::path cache = fs::canonical(*fs::directory_iterator(folder.path("cache")));
  Process process = start_generate("untied", options);
  process.write("5 6 0\n");
  EXPECT_FALSE(process.read_line().empty());
  fs::resize_file(cache, 16);
  process.write("7 8 0\n");
  EXPECT_TRUE(failed(process.wait(), 1, {cache.string() + ": has become shorter while it was read"}));
}

TEST(Limits, ASigbusFromOutsideEndsTheProgram) {
  Process process = start_generate("text", {"--token-ids"});
  process.write("5 6 0\n");
  EXPECT_FALSE(process.read_line().empty());
  process.send(SIGBUS);
  EXPECT_EQ(process.wait().status, 128 + SIGBUS);
}

// Sets the first `count` elements of a tensor to `value`.
void put(const std::string& model, std::string_view name, float value, Dim count) {
  const fs::path path = fs::path(model) / "model.safetensors";
  std::vector<NamedTensor> tensors;
  const auto store = read_safetensors(path);
  for (const auto& [stored_name, stored] : store->tensors()) {
    tensors.push_back({stored_name, as_float(stored)});
    if (stored_name == name)
      std::fill_n(tensors.back().tensor.data<float>(), std::min(count, stored.elements()), value);
  }
  write_safetensors(path, tensors);
}

TEST(Limits, NaNLogitsAreTracedToTheirOrigin) {
  const std::string bias = "model.decoder.layers.0.fc1.bias", weight = "model.encoder.layers.0.fc2.weight";
  const TemporaryFolder folder;
  const std::string model = copy_of_model(folder, "untied");
  const auto run_model = [&](const char* command) {
    std::vector<std::string> arguments = {command, "--model", model, "--token-ids"};
    if (command == std::string_view("score")) {
      arguments.insert(arguments.end(), {"--target", folder.write("target", "7 0\n8 0\n")});
    } else {
      arguments.push_back("--quiet");
    }
    Finished finished = encdec_command(arguments, "\n5 6 0\n");
    finished.output = "";
    return finished;
  };
  put(model, weight, 3e38f, 1'000'000);
  EXPECT_TRUE(
      failed(run_model("generate"), 1,
             {model, "source 2: the model computed NaN: 'encoder.0.feed_forward' is the first node that gives"}));
  put(model, bias, std::numeric_limits<float>::quiet_NaN(), 1);
  for (const char* command : {"generate", "score"}) {
    EXPECT_TRUE(
        failed(run_model(command), 1, {model, "the model computed NaN: tensor '" + bias + "' has nan at element 0"}))
        << command;
  }
}

TEST(Limits, LayersMissingFromConfigJsonAreReported) {
  const TemporaryFolder folder;
  const std::string model = copy_of_model(folder, "odd_sizes"), config = model + "/config.json";
  auto settings = nlohmann::json::parse(read_file(config));
  ASSERT_GT(settings["encoder_layers"], 1);
  const auto note = [&] { return encdec_command({"generate", "--model", model, "--token-ids"}, "5 6 0\n").errors; };
  EXPECT_EQ(note(), "");
  settings["encoder_layers"] = settings["encoder_layers"].get<int>() - 1;
  folder.write("model/config.json", settings.dump());
  EXPECT_THAT(note(), testing::HasSubstr("tensors are not used, such as 'model.encoder.layers."));
}

TEST(Limits, TruncatedSourcesAreCounted) {
  const Finished truncated = encdec_command({"generate", "--model", golden_model("text"), "--token-ids",
                                             "--max-source-tokens", "2", "--long-sources", "truncate"},
                                            "20 0\n20 30 0\n");
  EXPECT_EQ(truncated.status, 0);
  EXPECT_THAT(truncated.errors, testing::HasSubstr("1 of 2 sources had too many tokens and were truncated"));
}

TEST(Limits, ASignalEndsTheWaitForAPipe) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo(folder.path("pipe").c_str(), 0600), 0);
  for (const char* option : {"--input", "--output"}) {
    Process process = start_generate("text", {option, folder.path("pipe")});
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    process.send(SIGINT);
    EXPECT_EQ(process.wait().status, 128 + SIGINT) << option;
  }
}

}  // namespace
}  // namespace encdec
