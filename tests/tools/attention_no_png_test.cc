// Tests encdec attention --output FILE.png in a build without images.
#include <gtest/gtest.h>

#include "tests/tools/command.h"
#include "tests/tools/files.h"

namespace encdec {
namespace {

TEST(AttentionPng, IsRefusedInOneLineAndNothingIsWritten) {
  const TemporaryFolder folder;
  const Finished finished = encdec_command({"attention", "--quiet", "--model", golden_model("text"), "the cat",
                                            "the dog", "--output", folder.path("map.png")});
  EXPECT_TRUE(
      failed(finished, 2, {"map.png", "PNG images are not in this build (ENCDEC_PICTURES=OFF)", "ends in .svg"}));
  EXPECT_TRUE(folder.names().empty());
}

}  // namespace
}  // namespace encdec
