// Tests the positions inside attention; the contracts of the attention layers compare them with their formulas.
#include "encdec/layers/transformer/attention_positions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "encdec/engine/base/error.h"
#include "tests/support/message_of.h"

namespace encdec {
namespace {

using Direction = RelativePositions::Direction;
using testing::ElementsAre;

template <class BucketOf>
std::vector<int> buckets_of(const std::vector<int>& distances, const BucketOf& bucket_of) {
  std::vector<int> buckets;
  for (const int distance : distances) buckets.push_back(bucket_of(distance));
  return buckets;
}

// Expected values from T5Attention._relative_position_bucket of transformers 5.23.
TEST(RelativePositionBucket, MatchesT5) {
  RelativePositions options{.buckets = 32, .max_distance = 128};
  const auto bucket = [&](int distance) { return relative_position_bucket(distance, options); };
  EXPECT_THAT(buckets_of({-1, 0, 1, -8, 8, -16, 16, -64, 64, -90, -91, 90, 91, 100'000}, bucket),
              ElementsAre(1, 0, 17, 8, 24, 10, 26, 14, 30, 14, 15, 30, 31, 31));
  options.direction = Direction::backward;
  EXPECT_THAT(buckets_of({-15, -16, -17, -32, -64, -112, -113, -100'000, 0, 5}, bucket),
              ElementsAre(15, 16, 16, 21, 26, 30, 31, 31, 0, 0));
}

TEST(RelativePositionBucket, StaysInTheTableAndNeverFallsWithTheDistance) {
  for (const Direction direction : {Direction::both, Direction::backward}) {
    for (int buckets = direction == Direction::both ? 4 : 2; buckets < 40; ++buckets) {
      for (const int max_distance : {21, 64, 1000}) {
        const RelativePositions options{.buckets = buckets, .max_distance = max_distance, .direction = direction};
        ASSERT_NO_THROW(options.check());
        int last = 0;
        for (int distance = 0; distance >= -2 * max_distance; --distance) {
          const int bucket = relative_position_bucket(distance, options);
          ASSERT_GE(bucket, last) << buckets << " buckets, distance " << distance;
          ASSERT_LT(bucket, buckets);
          if (distance < -max_distance) {
            ASSERT_EQ(bucket, last) << "beyond the largest distance";
          }
          last = bucket;
        }
      }
    }
  }
}

// Expected values from make_log_bucket_position of transformers 5.23.
TEST(DisentangledOptions, PlacesAreThoseOfDeberta) {
  const auto bucket = [](const DisentangledOptions& options) {
    return [options](int distance) { return options.bucket_of(distance); };
  };
  EXPECT_THAT(buckets_of({-1024, -512, -511, -257, -129, -128, 0, 128, 130, 257, 510, 1024},
                         bucket({.span = 256, .max_distance = 512})),
              ElementsAre(0, 0, 1, 64, 127, 128, 256, 384, 386, 448, 511, 511));
  EXPECT_THAT(buckets_of({-300, -299, -151, -32, 33, 34, 151, 298}, bucket({.span = 64, .max_distance = 300})),
              ElementsAre(0, 1, 10, 32, 97, 97, 118, 127));
  EXPECT_THAT(buckets_of({-5, -4, -3, -2, -1, 0, 1, 2, 3, 4}, bucket({.span = 3})),
              ElementsAre(0, 0, 0, 1, 2, 3, 4, 5, 5, 5));
}

TEST(AttentionPositions, ImpossibleSizesAreRefused) {
  const auto failure = [](const auto& options) { return message_of<ShapeError>([&] { options.check(); }); };
  EXPECT_EQ(failure(RelativePositions{.buckets = 3, .max_distance = 9}),
            "3 relative position buckets, expected at least 4");
  EXPECT_EQ(failure(RelativePositions{.buckets = 1, .max_distance = 9, .direction = Direction::backward}),
            "1 relative position buckets, expected at least 2");
  EXPECT_EQ(failure(RelativePositions{.buckets = 32, .max_distance = 8}),
            "largest relative distance 8 with 32 buckets, expected more than 8");
  EXPECT_EQ(failure(DisentangledOptions{.span = 1, .max_distance = 9}), "1 position buckets, expected at least 2");
  EXPECT_EQ(failure(DisentangledOptions{.span = 8, .max_distance = 5}),
            "largest relative distance 5 with 8 position buckets, expected more than 5");
  EXPECT_EQ(failure(DisentangledOptions{.span = 8, .max_distance = 6}), "no exception");
  EXPECT_EQ(failure(DisentangledOptions{.span = 1}), "no exception");
  EXPECT_EQ(message_of<ShapeError>([] { RotaryPositions({.base = 10}, 5); }),
            "rotary positions for heads of 5, expected an even width");
  // 7 of 8 numbers give frequencies to 4 pairs; 7 of 7 cannot.
  RotaryPositions({.base = 10, .share = 0.9, .neighbours = true}, 8);
  EXPECT_THROW(RotaryPositions({.base = 10, .neighbours = true}, 7), ShapeError);
  EXPECT_THROW(RotaryPositions({.base = 10, .share = 0.9}, 8), ShapeError);
}

}  // namespace
}  // namespace encdec
