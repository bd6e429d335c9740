// Tests encdec-demo: it prints pronunciations of words.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/command.h"
#include "tests/tools/files.h"

namespace encdec {
namespace {

using testing::HasSubstr;

TEST(Demo, PronouncesItsArguments) {
  const Finished finished = run({{kEncdecDemo, "cat", "hello"}, "dog\n", {}, {}});
  EXPECT_EQ(finished.status, 0) << finished.errors;
  EXPECT_THAT(finished.output, HasSubstr("cat             K AE1 T\n"));
  EXPECT_THAT(finished.output, HasSubstr("\n2 words, "));
  EXPECT_THAT(finished.output, testing::Not(HasSubstr("dog")));
}

TEST(Demo, CountsOneWordAsOne) {
  EXPECT_THAT(run({{kEncdecDemo, "cat"}, "", {}, {}}).output, HasSubstr("\n1 word, "));
}

TEST(Demo, PronouncesStandardInput) {
  const Finished finished = run({{kEncdecDemo}, "hello\r\n\ncat", {}, {}});
  EXPECT_EQ(finished.status, 0) << finished.errors;
  EXPECT_THAT(finished.output, HasSubstr("cat             K AE1 T\n"));
  EXPECT_THAT(finished.output, HasSubstr("\n2 words, "));
}

TEST(Demo, UsesASampleForAnEmptyInput) {
  const Finished finished = run({{kEncdecDemo}, "", {}, {}});
  EXPECT_EQ(finished.status, 0) << finished.errors;
  EXPECT_THAT(finished.output, HasSubstr("\n12 words, "));
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
