// Tests encdec serve in a build without the server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/command.h"

namespace encdec {
namespace {

TEST(NoServe, IsRefusedAsNotInThisBuild) {
  const Finished finished = encdec_command({"serve", "--model", "x", "--port", "0"});
  EXPECT_EQ(finished.status, 2);
  EXPECT_THAT(finished.errors, testing::StartsWith("encdec: unknown command 'serve'"));
  EXPECT_THAT(finished.errors, testing::EndsWith("serve\n"));
  EXPECT_THAT(encdec_command({"--help"}).output, testing::HasSubstr("Not in this build: "));
}

}  // namespace
}  // namespace encdec
