// Tests encdec attention --output FILE.png.
#include <gtest/gtest.h>

#include "tests/tools/command.h"
#include "tests/tools/files.h"

namespace encdec {
namespace {

TEST(AttentionPng, IsWrittenCompletely) {
  const TemporaryFolder folder;
  const Finished finished = encdec_command({"attention", "--quiet", "--model", golden_model("text"), "the cat",
                                            "the dog", "--output", folder.path("map.png")});
  EXPECT_EQ(finished.status, 0) << finished.errors;
  EXPECT_TRUE(folder.read("map.png").starts_with("\x89PNG\r\n"));
  EXPECT_EQ(folder.names(), std::vector<std::string>{"map.png"});
}

TEST(AttentionPng, WithoutItsProgramIsRefusedInOneLineAndNothingIsWritten) {
  const TemporaryFolder folder;
  const Finished finished = run({{"/usr/bin/env", "PATH=/nonexistent", kEncdec, "attention", "--quiet", "--model",
                                  golden_model("text"), "the cat", "the dog", "--output", folder.path("map.png")}});
  EXPECT_TRUE(failed(finished, 2, {"map.png", "need the program rsvg-convert", "librsvg2-bin", ".svg"}));
  EXPECT_TRUE(folder.names().empty());
}

}  // namespace
}  // namespace encdec
