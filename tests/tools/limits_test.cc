// What the tools do when the system around them refuses: threads, files that are not there, room for output.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <utility>

#include "tests/tools/command.h"
#include "tests/tools/files.h"
#include "tests/tools/generate_command.h"

namespace encdec {
namespace {

namespace fs = std::filesystem;

// A run of encdec in a shell that has done `before`, such as setting limits.
Finished run_after(const std::string& before, std::vector<std::string> arguments, std::string input = {},
                   const std::string& output_file = {}) {
  std::vector<std::string> all = {"/bin/sh", "-c", before + "; exec \"$@\"", "sh", kEncdec};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return run({std::move(all), std::move(input), output_file, {}});
}

// A model of one's own to break.
std::string copy_of_model(const TemporaryFolder& folder, std::string_view name) {
  fs::copy(golden_model(name), folder.path("model"), fs::copy_options::recursive);
  return folder.path("model");
}

TEST(Limits, ThreadsThatCannotBeStartedAreOneLine) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need address space";
#endif
  for (const char* option : {"--threads", "--workers"}) {
    const std::vector<std::string> arguments = {"generate", "--model", golden_model("text"), option, "64"};
    EXPECT_TRUE(failed(run_after("ulimit -v 400000", arguments, "a\n"), 1, {"of 64 cannot be started", "ulimit -u"}))
        << option;
  }
}

TEST(Limits, OfTwoThatWriteOneFileTheLastStaysWhole) {
  const TemporaryFolder folder;
  const auto start = [&] {
    return Process({kEncdec, "generate", "--quiet", "--num-beams", "1", "--token-ids", "--model", golden_model("text"),
                    "--output", folder.path("out")});
  };
  Process one = start(), other = start();
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

TEST(Limits, LinksThatLeadNowhereAreNotAbsence) {
  for (const char* name : {"tokenizer_config.json", "generation_config.json", "config.json", "source.spm"}) {
    const TemporaryFolder folder;
    const std::string model = copy_of_model(folder, "text"), file = model + "/" + name;
    fs::remove(file);
    fs::create_symlink("../blobs/nothing", file);
    EXPECT_TRUE(failed(encdec_command({"generate", "--quiet", "--model", model}, "a\n"), 1,
                       {file + ": a link to '../blobs/nothing', which is not there"}));
    fs::remove(file);
    fs::create_symlink(file, file);
    EXPECT_TRUE(failed(encdec_command({"generate", "--quiet", "--model", model}, "a\n"), 1,
                       {file + ": Too many levels of symbolic links"}));
  }
}

TEST(Limits, FilesThatCannotBeFoundAreNotCalledOne) {
  const TemporaryFolder folder;
  fs::create_symlink(folder.path("loop"), folder.path("loop"));
  EXPECT_TRUE(failed(run_generate("text", {"--output", folder.path("loop/a"), "--stats", folder.path("loop/b")}, "a\n"),
                     1, {folder.path("loop/a") + ": cannot open for writing: Too many levels of symbolic links"}));
}

TEST(Limits, OutputThatIsLostIsAnError) {
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

TEST(Limits, FilesThatMayNotGrowAreOneLine) {
  const TemporaryFolder folder;
  std::string input;
  for (int line = 0; line < 2000; ++line) input += "a\n";
  const Finished finished = run_after(
      "ulimit -f 1", {"generate", "--quiet", "--model", golden_model("text"), "--output", folder.path("out")}, input);
  EXPECT_TRUE(failed(finished, 1, {folder.path("out") + ": cannot write: File too large"}));
  EXPECT_THAT(folder.names(), testing::ElementsAre(folder.partial()));
}

TEST(Limits, AFileThatIsCutWhileItIsReadIsOneLine) {
  const TemporaryFolder folder;
  const std::string model = copy_of_model(folder, "untied"), weights = model + "/model.safetensors";
  Process process({kEncdec, "generate", "--quiet", "--token-ids", "--num-beams", "1", "--model", model});
  process.write("5 6 0\n");
  EXPECT_FALSE(process.read_line().empty());
  fs::resize_file(weights, 16);
  process.write("7 8 0\n");  // embeddings are read when they are needed
  EXPECT_TRUE(failed(process.wait(), 1, {weights + ": has become shorter while it was read"}));
}

}  // namespace
}  // namespace encdec
