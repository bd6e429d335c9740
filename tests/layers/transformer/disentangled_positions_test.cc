#include "encdec/layers/transformer/disentangled_positions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "encdec/engine/base/error.h"
#include "tests/support/message_of.h"

namespace encdec {
namespace {

// Expected values from make_log_bucket_position of transformers 5.23.
TEST(DisentangledOptions, PlacesAreThoseOfDeberta) {
  constexpr DisentangledOptions kPublished{.span = 256, .max_distance = 512}, kSmall{.span = 64, .max_distance = 300};
  for (const auto& [distance, place] : {std::pair(-1024, 0),
                                        {-512, 0},
                                        {-511, 1},
                                        {-257, 64},
                                        {-129, 127},
                                        {-128, 128},
                                        {0, 256},
                                        {128, 384},
                                        {130, 386},
                                        {257, 448},
                                        {510, 511},
                                        {1024, 511}}) {
    EXPECT_EQ(kPublished.place_of(distance), place) << distance;
  }
  for (const auto& [distance, place] :
       {std::pair(-300, 0), {-299, 1}, {-151, 10}, {-32, 32}, {33, 97}, {34, 97}, {151, 118}, {298, 127}}) {
    EXPECT_EQ(kSmall.place_of(distance), place) << distance;
  }
  constexpr DisentangledOptions kWithoutBuckets{.span = 3};
  for (int distance = -5; distance <= 5; ++distance) {
    EXPECT_EQ(kWithoutBuckets.place_of(distance), std::clamp(distance, -3, 2) + 3);
  }
}

TEST(DisentangledOptions, RefuseImpossibleSizes) {
  const auto failure = [](const DisentangledOptions& options) {
    return message_of<ShapeError>([&] { options.check(); });
  };
  EXPECT_EQ(failure({.span = 1, .max_distance = 9}), "1 position buckets, expected at least 2");
  EXPECT_EQ(failure({.span = 8, .max_distance = 5}),
            "largest relative distance 5 with 8 position buckets, expected more than 5");
  EXPECT_EQ(failure({.span = 8, .max_distance = 6}), "no exception");
  EXPECT_EQ(failure({.span = 1}), "no exception");
}

}  // namespace
}  // namespace encdec
