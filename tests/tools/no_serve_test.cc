// Tests encdec serve in a build without the server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/command.h"

namespace encdec {
namespace {

TEST(NoServe, IsRefusedWithTheNameOfTheOptionThatBuildsIt) {
  EXPECT_TRUE(failed(encdec_command({"serve", "--model", "x", "--port", "0"}), 2,
                     {"encdec: serve: not in this build (ENCDEC_SERVER=OFF)\n"}));
  EXPECT_THAT(encdec_command({"--help"}).output, testing::HasSubstr("Not in this build (ENCDEC_SERVER=OFF)"));
}

}  // namespace
}  // namespace encdec
