// Tests manual pages and shell completion, which are generated from the options.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

#include "tests/tools/command.h"
#include "tests/tools/files.h"

namespace encdec {
namespace {

using testing::Contains;
using testing::HasSubstr;

std::string output_of(const std::string& program, const std::vector<std::string>& arguments) {
  Command command{{program}, "", {}, {}};
  command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
  const Finished finished = run(command);
  EXPECT_EQ(finished.status, 0) << finished.errors;
  EXPECT_EQ(finished.errors, "");
  return finished.output;
}

// Returns the first group of `pattern` in each line of `help` that matches.
std::vector<std::string> matches(const std::string& help, const std::string& pattern) {
  std::vector<std::string> found;
  const std::regex regex(pattern);
  for (const std::string& line : split_lines(help)) {
    std::smatch match;
    if (std::regex_search(line, match, regex)) found.push_back(match[1]);
  }
  return found;
}

std::vector<std::string> options_in(const std::string& help) {
  return matches(help, "^ +(?:-[a-z],? *)?(--[a-z-]+)");
}

std::vector<std::string> subcommands_of_encdec() {
  const std::string help = output_of(kEncdec, {"--help"});
  const std::size_t begin = help.find("Subcommands:");
  std::vector<std::string> names = matches(help.substr(begin, help.find("\n\n", begin) - begin), "^  ([a-z]+) ");
  EXPECT_GE(names.size(), 8u) << help;
  return names;
}

// Returns a section of a manual page as plain text.
std::string section(const std::string& page, const std::string& heading) {
  const std::size_t begin = page.find("\n.SH " + heading + "\n");
  EXPECT_NE(begin, std::string::npos) << heading;
  const std::size_t end = page.find("\n.SH ", begin + 1);
  return std::regex_replace(page.substr(begin, end - begin), std::regex(R"(\\-)"), "-");
}

void expect_options(const std::string& text, const std::string& help) {
  const std::vector<std::string> options = options_in(help);
  EXPECT_GE(options.size(), 1u) << help;
  for (const std::string& option : options) EXPECT_THAT(text, HasSubstr("\\fB" + option + "\\fR")) << help;
}

TEST(ManualPage, HasEveryOptionOfTheHelp) {
  const std::string page = output_of(kEncdec, {"--man"});
  expect_options(section(page, "OPTIONS"), output_of(kEncdec, {"--help"}));
  for (const std::string& name : subcommands_of_encdec()) {
    EXPECT_THAT(section(page, "COMMANDS"), HasSubstr("\n\\fB" + name + "\\fR\n"));
    std::string heading = "ENCDEC " + name;
    for (char& c : heading) c = static_cast<char>(std::toupper(c));
    expect_options(section(page, heading), output_of(kEncdec, {name, "--help"}));
  }
  expect_options(section(output_of(kEncdecDemo, {"--man"}), "OPTIONS"), output_of(kEncdecDemo, {"--help"}));
}

TEST(ManualPage, ShowsValuesDefaultsAndRequiredOptions) {
  const std::string page = output_of(kEncdec, {"--man"});
  const std::string generate = section(page, "ENCDEC GENERATE");
  EXPECT_THAT(generate, HasSubstr("\\fBencdec generate\\fR \\fB--model\\fR \\fIDIR\\fR [\\fIOPTION\\fR]...\n"));
  EXPECT_THAT(generate, HasSubstr("\\fB--precision\\fR float32|bfloat16|int8|int4|auto\n"));
  EXPECT_THAT(generate, HasSubstr("(default: float32)\n"));
  EXPECT_THAT(generate, HasSubstr("\\fB--do-sample\\fR [true|false]\n"));
  EXPECT_THAT(generate, HasSubstr("from the local cache (required)\n"));
  EXPECT_THAT(section(page, "ENCDEC ATTENTION"), HasSubstr("[\\fISOURCE\\fR] [\\fITARGET\\fR]\n"));
  EXPECT_THAT(section(page, "EXIT STATUS"), HasSubstr(".TP\n\\fB2\\fR\nwrong usage"));
  EXPECT_THAT(section(page, "EXAMPLES"), HasSubstr(".nf\nencdec generate --model"));
  EXPECT_THAT(section(page, "ENCDEC INSPECT"), testing::Not(HasSubstr("Examples")));
  EXPECT_THAT(section(output_of(kEncdecDemo, {"--man"}), "SYNOPSIS"), HasSubstr("[\\fIwords\\fR...]"));
}

TEST(ManualPage, IsFormattedWithoutWarnings) {
  const std::string groff = "/usr/bin/groff";
  if (!std::filesystem::exists(groff)) GTEST_SKIP() << "no groff";
  for (const std::string& page : {output_of(kEncdec, {"--man"}), output_of(kEncdecDemo, {"--man"})}) {
    const Finished finished = run({{groff, "-man", "-ww", "-z", "-Tutf8"}, page, {}, {}});
    EXPECT_EQ(finished.status, 0);
    EXPECT_EQ(finished.errors, "");
  }
}

struct Shell {
  const char* program;
  const char* name;
};

TEST(Completion, CanBeReadByItsShell) {
  for (const auto& [program, name] : {Shell{"/bin/bash", "bash"}, {"/usr/bin/zsh", "zsh"}, {"/usr/bin/fish", "fish"}}) {
    for (const std::string& command : {kEncdec, kEncdecDemo}) {
      const TemporaryFolder folder;
      const std::string file = folder.write("completion", output_of(command, {"--completion", name}));
      if (!std::filesystem::exists(program)) continue;
      const Finished finished = run({{program, "-n", file}, "", {}, {}});
      EXPECT_EQ(finished.status, 0) << program;
      EXPECT_EQ(finished.errors, "") << program;
    }
  }
}

TEST(Completion, HasEveryOptionOfTheHelpInEachShell) {
  const auto expect = [](const std::string& script, const std::vector<std::string>& options, const std::string& form) {
    EXPECT_GE(options.size(), 1u);
    for (const std::string& option : options) {
      EXPECT_TRUE(
          std::regex_search(script, std::regex(std::regex_replace(form, std::regex("OPTION"), option.substr(2)))))
          << option;
    }
  };
  for (const std::string& name : subcommands_of_encdec()) {
    const std::vector<std::string> options = options_in(output_of(kEncdec, {name, "--help"}));
    expect(output_of(kEncdec, {"--completion", "bash"}), options,
           "\n    " + name + "\\)\n      options='.* ?--OPTION[ ']");
    expect(output_of(kEncdec, {"--completion", "fish"}), options, "_from " + name + "'( -s .)? -l OPTION ");
    const std::string zsh = output_of(kEncdec, {"--completion", "zsh"});
    const std::size_t begin = zsh.find("\n        " + name + ") _arguments");
    ASSERT_NE(begin, std::string::npos) << name;
    expect(zsh.substr(begin, zsh.find(";;", begin) - begin), options, "'--OPTION=?\\[");
  }
}

// Types these lines, with tabs, into an interactive bash. Returns the arguments of each call of encdec.
std::vector<std::string> called_by_bash(const std::string& typed) {
  const TemporaryFolder folder;
  const std::string settings = folder.write("settings", output_of(kEncdec, {"--completion", "bash"}) +
                                                            output_of(kEncdecDemo, {"--completion", "bash"}) +
                                                            "encdec() { printf '<%s>' \"$@\"; echo; }\n"
                                                            "encdec-demo() { encdec \"$@\"; }\n");
  const Finished finished = run({{"/usr/bin/env", "INPUTRC=/dev/null", "HISTFILE=", "TERM=dumb", "/bin/bash",
                                  "--noprofile", "--rcfile", settings, "-i"},
                                 typed,
                                 {},
                                 {}});
  return matches(finished.output, "^(<.*>)$");
}

TEST(BashCompletion, CompletesCommandsOptionsAndValues) {
  EXPECT_THAT(called_by_bash("encdec gen\t\n"
                             "encdec generate --prec\tbf\t\n"
                             "encdec score --precision=int8\t\n"
                             "encdec attention --layer m\t--hea\t\n"
                             "encdec generate --do-sample f\t--qui\t\n"
                             "encdec generate --do-sample --qui\t\n"
                             "encdec inspect --gr\tdo\t\n"
                             "encdec --comp\tfi\t\n"
                             "encdec-demo --vers\t\n"),
              testing::ElementsAre("<generate>", "<generate><--precision><bfloat16>", "<score><--precision=int8>",
                                   "<attention><--layer><mean><--head>", "<generate><--do-sample><false><--quiet>",
                                   "<generate><--do-sample><--quiet>", "<inspect><--graph><dot>",
                                   "<--completion><fish>", "<--version>"));
}

TEST(BashCompletion, CompletesFilesAndFolders) {
  const TemporaryFolder folder;
  folder.write("a text.en", "");
  folder.write("model file", "");
  std::filesystem::create_directory(folder.path("model folder"));
  const std::string base = folder.path("");
  EXPECT_THAT(called_by_bash("encdec generate --input " + base + "a\t\nencdec generate --model " + base + "mod\t\n"),
              testing::ElementsAre("<generate><--input><" + base + "a text.en>",
                                   "<generate><--model><" + base + "model folder/>"));
}

TEST(BashCompletion, CompletesNothingForANumber) {
  EXPECT_THAT(called_by_bash("encdec generate --threads --qui\t\n"),
              testing::ElementsAre("<generate><--threads><--qui>"));
}

TEST(FishCompletion, CompletesCommandsOptionsAndValues) {
  const std::string fish = "/usr/bin/fish";
  if (!std::filesystem::exists(fish)) GTEST_SKIP() << "no fish";
  const TemporaryFolder folder;
  const std::string script = folder.write("completion", output_of(kEncdec, {"--completion", "fish"}));
  const auto completed = [&](const std::string& typed) {
    const Finished finished =
        run({{fish, "--no-config", "-c", "source " + script + "; complete -C '" + typed + "'"}, "", {}, {}});
    return matches(finished.output, "^([^\t]+)");
  };
  EXPECT_THAT(completed("encdec gen"), testing::ElementsAre("generate"));
  EXPECT_THAT(completed("encdec generate --prec"), testing::ElementsAre("--precision"));
  EXPECT_THAT(completed("encdec generate --precision "), testing::ElementsAre("auto", "bfloat16", "float32", "int8"));
  EXPECT_THAT(completed("encdec generate --input " + script), Contains(script));
}

}  // namespace
}  // namespace encdec
