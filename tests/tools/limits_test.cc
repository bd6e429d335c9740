// What the tools do when the system refuses: threads, memory, room, time.
#include <gtest/gtest.h>

#include "tests/tools/command.h"
#include "tests/tools/files.h"
#include "tests/tools/generate_command.h"

namespace encdec {
namespace {

// A run of encdec in a shell that has set limits before.
Finished run_limited(const std::string& limits, std::vector<std::string> arguments, std::string input = {}) {
  std::vector<std::string> all = {"/bin/sh", "-c", limits + "; exec \"$@\"", "sh", kEncdec};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return run({.arguments = std::move(all), .input = std::move(input)});
}

TEST(Limits, ThreadsThatCannotBeStartedAreOneLine) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need address space";
#endif
  const std::string model = golden_folder(golden_names().front());
  for (const char* option : {"--threads", "--workers"}) {
    const Finished finished =
        run_limited("ulimit -v 400000", {"generate", "--model", model, "--token-ids", option, "64"}, "5 6 7 0\n");
    EXPECT_TRUE(failed(finished, 1, {"of 64 cannot be started", "ulimit -u"})) << option;
  }
}

}  // namespace
}  // namespace encdec
