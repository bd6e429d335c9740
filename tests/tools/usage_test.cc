// Arguments of encdec: help, version, and what is wrong usage.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/command.h"
#include "tests/tools/files.h"

namespace encdec {
namespace {

using testing::HasSubstr;

constexpr const char* kSubcommands[] = {"embed", "forward", "generate", "inspect", "tokenize"};

TEST(Usage, HelpTellsOfSubcommandsAndOptions) {
  const Finished finished = encdec_command({"--help"});
  EXPECT_EQ(finished.status, 0);
  EXPECT_EQ(finished.errors, "");
  for (const char* name : kSubcommands) {
    EXPECT_THAT(finished.output, HasSubstr(std::string("\n  ") + name));
    const Finished help = encdec_command({name, "--help"});
    EXPECT_EQ(help.status, 0);
    EXPECT_THAT(help.output, HasSubstr("--model DIR")) << name;
  }
}

TEST(Usage, VersionIsOneLine) {
  const Finished finished = encdec_command({"--version"});
  EXPECT_EQ(finished.status, 0);
  EXPECT_TRUE(finished.output.starts_with("encdec ")) << finished.output;
  EXPECT_EQ(split_lines(finished.output).size(), 1u);
}

TEST(Usage, NoSubcommandIsWrongAndGivesTheHelp) {
  const Finished finished = encdec_command({});
  EXPECT_EQ(finished.status, 2);
  EXPECT_EQ(finished.output, "");
  EXPECT_THAT(finished.errors, HasSubstr("generate"));
}

TEST(Usage, HelpToAFullDiskIsAFailure) {
  EXPECT_EQ(run({{kEncdec, "--help"}, "", "/dev/full", {}}).status, 1);
}

struct WrongUsage {
  std::vector<std::string> arguments;
  std::vector<std::string> message;
};

TEST(Usage, WrongArgumentsGiveOneLineAndStatus2) {
  const std::string model = golden_model("text");
  std::vector<WrongUsage> table = {
      {{"translate"}, {"translate"}},
      {{"--frobnicate"}, {"--frobnicate"}},
      {{"generate", "--model", model, "more"}, {"more"}},
      {{"generate", "--model", model, "--frobnicate"}, {"--frobnicate"}},
      {{"generate", "--model"}, {"--model"}},
      {{"generate", "--model", model, "--threads", "two"}, {"--threads", "'two'", "0 to 1024"}},
      {{"generate", "--model", model, "--threads", "-1"}, {"--threads", "'-1'", "0 to 1024"}},
      {{"generate", "--model", model, "--batch-size", "0"}, {"--batch-size", "'0'", "1 to 65536"}},
      {{"generate", "--model", model, "--batch-size", "99999999999999999999"}, {"--batch-size"}},
      {{"generate", "--model", model, "--max-new-tokens", "0"}, {"--max-new-tokens", "'0'"}},
      {{"generate", "--model", model, "--max-new-tokens", "1.5"}, {"--max-new-tokens", "'1.5'"}},
      {{"generate", "--model", model, "--min-new-tokens", ""}, {"--min-new-tokens"}},
      {{"generate", "--model", model, "--num-beams", "4"}, {"--num-beams", "'4'", "expected 1"}},
      {{"generate", "--model", model, "--precision", "int8"}, {"--precision", "'int8'", "float32"}},
      {{"generate", "--model", model, "--json", "--json=maybe"}, {"--json"}},
      {{"generate", "--model", model, "--output", "x", "--stats", "x"}, {"--output", "--stats"}},
      {{"forward", "--model", model}, {"--output"}},
      {{"forward", "--model", model, "--output", "x"}, {"--decoder-input"}},
  };
  for (const char* name : kSubcommands) table.push_back({{name}, {"--model", name}});
  for (const auto& [arguments, message] : table) {
    EXPECT_TRUE(failed(encdec_command(arguments), 2, message)) << testing::PrintToString(arguments);
  }
}

}  // namespace
}  // namespace encdec
