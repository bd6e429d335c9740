// Tests the arguments of encdec: help, version and wrong usage.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/tools/command.h"
#include "tests/tools/files.h"

namespace encdec {
namespace {

using testing::HasSubstr;

constexpr const char* kSubcommands[] = {"attention", "bench", "forward", "generate", "inspect", "score", "tokenize"};

TEST(Usage, HelpListsSubcommandsAndOptions) {
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

TEST(Usage, NoSubcommandIsWrongAndPrintsTheHelp) {
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
      {{"--frobnicate"}, {"--frobnicate"}},
      {{"generate", "--model", model, "more"}, {"more"}},
      {{"generate", "--model", model, "--frobnicate"}, {"--frobnicate"}},
      {{"generate", "--model"}, {"--model"}},
      {{"generate", "--model", model, "--threads", "two"}, {"--threads", "'two'", "0 to 1024"}},
      {{"generate", "--model", model, "--threads", "-1"}, {"--threads", "'-1'", "0 to 1024"}},
      {{"generate", "--model", model, "--batch-size", "-1"}, {"--batch-size", "'-1'", "0 to 65536"}},
      {{"generate", "--model", model, "--batch-size", "99999999999999999999"}, {"--batch-size"}},
      {{"generate", "--model", model, "--max-new-tokens", "0"}, {"--max-new-tokens", "'0'"}},
      {{"generate", "--model", model, "--max-new-tokens", "1.5"}, {"--max-new-tokens", "'1.5'"}},
      {{"generate", "--model", model, "--min-new-tokens", ""}, {"--min-new-tokens"}},
      {{"generate", "--model", model, "--precision", "int4"},
       {"--precision", "'int4'", "float32, bfloat16, int8 or auto"}},
      {{"generate", "--model", model, "--json", "--json=maybe"}, {"--json"}},
      {{"generate", "--model", model, "--output", "x", "--stats", "x"}, {"--output", "--stats"}},
      {{"forward", "--model", model}, {"--output"}},
      {{"forward", "--model", model, "--output", "x"}, {"--decoder-input"}},
  };
  for (const std::string name : kSubcommands) {
    if (name != "inspect") table.push_back({{name}, {"--model", name}});
  }
  for (const auto& [arguments, message] : table) {
    EXPECT_TRUE(failed(encdec_command(arguments), 2, message)) << testing::PrintToString(arguments);
  }
}

TEST(Usage, AnUnknownOptionIsNamedFirstWithTheNearestOne) {
  const std::vector<WrongUsage> table = {
      {{"generate", "--modle", "x"}, {"encdec: unknown option '--modle', did you mean '--model'?"}},
      {{"generate", "--lenght-penalty", "1"}, {"unknown option '--lenght-penalty', did you mean '--length-penalty'?"}},
      {{"generate", "--num_beams=3"}, {"unknown option '--num_beams', did you mean '--num-beams'?"}},
      {{"generate", "--threads", "two", "--Quiet"}, {"unknown option '--Quiet', did you mean '--quiet'?"}},
      {{"generate", "-model", "x"}, {"unknown option '-model', did you mean '--model'?"}},
      {{"generate", "--frobnicate"}, {"unknown option '--frobnicate' (see encdec generate --help)"}},
      {{"--vresion"}, {"unknown option '--vresion', did you mean '--version'? (see encdec --help)"}},
      {{"--model", "x", "generate"}, {"unknown option '--model' (see encdec generate --help)"}},
      {{"generate", "more", "--model"}, {"unexpected argument 'more'"}},
  };
  for (const auto& [arguments, message] : table) {
    EXPECT_TRUE(failed(encdec_command(arguments), 2, message)) << testing::PrintToString(arguments);
  }
}

TEST(Usage, AnUnknownCommandIsNamedFirstThenTheKnownOnes) {
  const std::string commands = "(commands: generate, ";
  const std::vector<WrongUsage> table = {
      {{"help"}, {"encdec: unknown command 'help' " + commands}},
      {{"Generate"}, {"unknown command 'Generate', did you mean 'generate'? " + commands}},
      {{"tokenise", "--model", "x"}, {"unknown command 'tokenise', did you mean 'tokenize'? " + commands}},
      {{"summarize", "--modle", "x"}, {"unknown command 'summarize' " + commands, "inspect, bench"}},
  };
  for (const auto& [arguments, message] : table) {
    EXPECT_TRUE(failed(encdec_command(arguments), 2, message)) << testing::PrintToString(arguments);
  }
}

struct WrongValue {
  const char* option;
  std::vector<const char*> values;
  const char* expected;
};

TEST(Usage, WrongValuesOfGenerationOptionsAreNamedWithTheirRange) {
  const std::vector<WrongValue> table = {
      {"--num-beams", {"0", "-1", "two", "1.5", "", "1001"}, "an integer from 1 to 1000"},
      {"--num-return-sequences", {"0"}, "an integer from 1 to 1000"},
      {"--length-penalty", {"nan", "inf", "1e7", "x", "1,5", ""}, "a number from -100 to 100"},
      {"--coverage-penalty", {"-100.5", "nan"}, "a number from -100 to 100"},
      {"--early-stopping", {"maybe", "", "True"}, "true, false or never"},
      {"--do-sample", {"maybe", "1"}, "true or false"},
      {"--temperature", {"0", "-1", "nan", "inf", "1e-60"}, "a number from 1e-06 to 1000000"},
      {"--top-k", {"-1", "1.5"}, "an integer from 0 to 2147483647"},
      {"--top-p", {"1.1", "nan", "-0.5"}, "a number from 0 to 1"},
      {"--seed", {"-1", "x", "9223372036854775808"}, "an integer from 0"},
      {"--repetition-penalty", {"0", "-1", "nan"}, "a number from 1e-06"},
      {"--encoder-repetition-penalty", {"0", "x"}, "a number from 1e-06"},
      {"--no-repeat-ngram-size", {"-1", "x"}, "an integer from 0"},
      {"--encoder-no-repeat-ngram-size", {"-1"}, "an integer from 0"},
      {"--suppress-tokens", {"1 x", "1,2", " ", "-1"}, "token ids separated by spaces"},
      {"--begin-suppress-tokens", {"x"}, "token ids separated by spaces"},
      {"--exponential-decay-length-penalty", {"5", "5,0", "-1,2", "5,nan", "x,1.1", "5,1.1,2"}, "START,FACTOR"},
      {"--top-log-probs", {"-1", "x", "1001"}, "an integer from 0 to 1000"},
      {"--workers", {"-1", "2000"}, "an integer from 0 to 1024"},
      {"--batch-size", {"-1", "auto"}, "an integer from 0 to 65536"},
  };
  for (const auto& [option, values, expected] : table) {
    for (const std::string value : values) {
      const Finished finished = encdec_command({"generate", "--json", "--model", golden_model("text"), option, value});
      EXPECT_TRUE(failed(finished, 2, {option, "'" + value + "'", expected})) << option << " " << value;
    }
  }
}

TEST(Usage, ContradictoryOptionsAreNamed) {
  const std::vector<WrongUsage> table = {
      {{"--stream", "--json"}, {"--stream", "--json"}},
      {{"--stream", "--output", "x"}, {"--stream", "--output"}},
      {{"--num-return-sequences", "2"}, {"--num-return-sequences is 2", "--json"}},
      {{"--token-scores"}, {"--token-scores", "--json"}},
      {{"--top-log-probs", "3"}, {"--top-log-probs", "--json"}},
  };
  for (auto [arguments, message] : table) {
    arguments.insert(arguments.begin(), {"generate", "--model", golden_model("text")});
    EXPECT_TRUE(failed(encdec_command(arguments), 2, message)) << testing::PrintToString(arguments);
  }
  EXPECT_TRUE(failed(encdec_command({"score", "--model", golden_model("text")}), 2, {"--target"}));
  EXPECT_TRUE(failed(encdec_command({"bench", "--model", golden_model("text"), "--num-beams", "0"}), 2,
                     {"--num-beams", "'0'"}));
}

TEST(Usage, AFileThatIsReadIsNotOverwritten) {
  const TemporaryFolder folder;
  const std::string file = folder.write("file", "5\n"), same = folder.path("same"), link = folder.path("link");
  std::filesystem::create_hard_link(file, same);
  std::filesystem::create_symlink("file", link);
  const std::vector<WrongUsage> table = {
      {{"generate", "--input", file, "--output", same}, {"--output " + same + ": the same file as --input"}},
      {{"generate", "--input", link, "--output", same}, {"--output " + same + ": the same file as --input"}},
      {{"generate", "--prefix-file", file, "--stats", link}, {"--stats " + link + ": the same file as --prefix-file"}},
      {{"generate", "--force-words-file", file, "--output", file}, {"the same file as --force-words-file"}},
      {{"generate", "--input", file, "--attention", file}, {"--attention " + file + ": the same file as --input"}},
      {{"score", "--target", file, "--output", file}, {"--output " + file + ": the same file as --target"}},
      {{"tokenize", "--input", file, "--output", file}, {"--output " + file + ": the same file as --input"}},
      {{"forward", "--decoder-input", file, "--output", file}, {"the same file as --decoder-input"}},
      {{"attention", "--input", file, "--output", file}, {"--output " + file + ": the same file as --input"}},
  };
  for (auto [arguments, message] : table) {
    arguments.insert(arguments.end(), {"--model", golden_model("text")});
    EXPECT_TRUE(failed(encdec_command(arguments), 2, message)) << testing::PrintToString(arguments);
    EXPECT_EQ(folder.read("file"), "5\n");
  }
  const std::string shell = "exec \"$0\" generate --model \"$1\" --output \"$2\" < \"$2\"";
  EXPECT_TRUE(failed(run({{"/bin/sh", "-c", shell, kEncdec, golden_model("text"), file}, "", {}, {}}), 2,
                     {"--output " + file + ": the same file as standard input"}));
}

}  // namespace
}  // namespace encdec
