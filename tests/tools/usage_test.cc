// Tests the arguments of encdec: help, version and wrong usage.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/tools/command.h"
#include "tests/tools/files.h"

namespace encdec {
namespace {

using testing::HasSubstr;

TEST(Usage, NoSubcommandIsWrongAndPrintsTheHelp) {
  const Finished finished = encdec_command({});
  EXPECT_EQ(finished.status, 2);
  EXPECT_EQ(finished.output, "");
  EXPECT_THAT(finished.errors, HasSubstr("generate"));
}

struct WrongUsage {
  std::vector<std::string> arguments;
  std::vector<std::string> message;
};

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
