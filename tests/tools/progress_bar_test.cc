#include "tools/command/progress_bar.h"

#include <gtest/gtest.h>

namespace encdec::cli {
namespace {

TEST(ProgressBar, LineShowsRateAndTimeLeft) {
  EXPECT_EQ(progress_line({0.25, 100, 1000}, 10, 100),
            " 25% [=====               ]  100 lines, 10.0 lines/s, 100 tokens/s, 0:30 left");
  EXPECT_EQ(progress_line({1.0, 7, 70}, 7200, 100),
            "100% [====================]  7 lines, 0.0 lines/s, 0 tokens/s, 0:00 left");
  EXPECT_EQ(progress_line({0.01, 0, 5}, 100, 100),
            "  1% [                    ]  0 lines, 0.0 lines/s, 0 tokens/s, 2:45:00 left");
}

TEST(ProgressBar, LineWithoutAKnownEndShowsTheElapsedTime) {
  EXPECT_EQ(progress_line({std::nullopt, 100, 1000}, 65, 100), "100 lines, 1.5 lines/s, 15 tokens/s, 1:05");
}

TEST(ProgressBar, LineFitsTheTerminal) {
  EXPECT_EQ(progress_line({std::nullopt, 100, 1000}, 10, 9), "100 lines");
  EXPECT_EQ(progress_line({0.5, 100, 1000}, 10, 0), "");
}

}  // namespace
}  // namespace encdec::cli
