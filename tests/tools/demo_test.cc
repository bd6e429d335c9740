// Tests encdec-demo: it prints pronunciations of words.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/command.h"
#include "tests/tools/files.h"

namespace encdec {
namespace {

using testing::HasSubstr;

TEST(Demo, PronouncesItsArgumentsOrStandardInputOrASample) {
  const struct {
    std::vector<std::string> words;
    std::string input;
    std::string line, count;
  } rows[] = {
      {{"cat", "hello"}, "dog\n", "cat             K AE1 T\n", "\n2 words, "},
      {{"cat"}, "", "cat             K AE1 T\n", "\n1 word, "},
      {{}, "hello\r\n\ncat", "cat             K AE1 T\n", "\n2 words, "},
      {{}, "", "", "\n12 words, "},
  };
  for (auto [words, input, line, count] : rows) {
    words.insert(words.begin(), kEncdecDemo);
    const Finished finished = run({words, input, {}, {}});
    EXPECT_EQ(finished.status, 0) << finished.errors;
    EXPECT_THAT(finished.output, testing::AllOf(HasSubstr(line), HasSubstr(count)));
  }
}

TEST(Demo, WorksWithAnyModelThatHasATokenizer) {
  const Finished finished = run({{kEncdecDemo, "--model", golden_model("text"), "Hello world"}, "", {}, {}});
  EXPECT_EQ(finished.status, 0) << finished.errors;
  EXPECT_THAT(finished.output,
              HasSubstr(encdec_command({"generate", "--quiet", "--num-beams", "1", "--model", golden_model("text")},
                                       "Hello world\n")
                            .output));
}

TEST(Demo, ReportsErrors) {
  const Finished finished = run({{kEncdecDemo, "--model", "/nowhere/model"}, "", {}, {}});
  EXPECT_EQ(finished.status, 1);
  EXPECT_TRUE(finished.errors.starts_with("encdec-demo: /nowhere/model")) << finished.errors;
  EXPECT_EQ(split_lines(finished.errors).size(), 1u);
  const Finished misspelt = run({{kEncdecDemo, "--modle", "a"}, "", {}, {}});
  EXPECT_EQ(misspelt.status, 2);
  EXPECT_EQ(misspelt.errors,
            "encdec-demo: unknown option '--modle', did you mean '--model'? (see encdec-demo --help)\n");
}

}  // namespace
}  // namespace encdec
