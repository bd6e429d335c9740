#include "encdec/models/generation/confidence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "encdec/engine/base/error.h"
#include "tests/support/message_of.h"
#include "tests/support/temp_folder.h"

namespace encdec {
namespace {

using testing::HasSubstr;

Confidence confidence_of(const std::string& table) {
  const TempFolder folder;
  folder.write("confidence.json", table);
  return Confidence::read(folder.path());
}

double of_mean(const Confidence& confidence, float mean) {
  return confidence.of(std::vector<float>{mean - 0.5F, mean + 0.5F});
}

TEST(Confidence, WithoutATableIsTheGeometricMeanOfTheProbabilities) {
  const TempFolder folder;
  for (const Confidence& confidence : {Confidence(), Confidence::read(folder.path())}) {
    EXPECT_FALSE(confidence.is_calibrated());
    EXPECT_DOUBLE_EQ(confidence.of(std::vector<float>{-0.25F, -0.75F, -2.0F}), std::exp(-1.0));
    EXPECT_EQ(confidence.of(std::vector<float>{0.0F}), 1.0);
    EXPECT_EQ(confidence.of({}), 1.0);
  }
}

TEST(Confidence, IsLinearBetweenThePointsOfTheTable) {
  const Confidence confidence =
      confidence_of(R"({"mean_log_probability": [-3, -1, -0.5], "confidence": [0.2, 0.6, 0.9], "made by": "a test"})");
  EXPECT_TRUE(confidence.is_calibrated());
  EXPECT_DOUBLE_EQ(of_mean(confidence, -3), 0.2);
  EXPECT_DOUBLE_EQ(of_mean(confidence, -2), 0.4);
  EXPECT_DOUBLE_EQ(of_mean(confidence, -1), 0.6);
  EXPECT_DOUBLE_EQ(of_mean(confidence, -0.75), 0.75);
  EXPECT_EQ(confidence.of({}), 1.0);
}

TEST(Confidence, OutsideTheTableIsThatOfItsEnd) {
  const Confidence confidence = confidence_of(R"({"mean_log_probability": [-3, -1], "confidence": [0.2, 0.6]})");
  EXPECT_DOUBLE_EQ(of_mean(confidence, -20), 0.2);
  EXPECT_DOUBLE_EQ(of_mean(confidence, -0.5), 0.6);
  const Confidence single = confidence_of(R"({"mean_log_probability": [-1], "confidence": [0.5]})");
  for (const float mean : {-2.0F, -1.0F, 0.0F}) EXPECT_DOUBLE_EQ(of_mean(single, mean), 0.5);
}

TEST(Confidence, TakesTheFirstOfPointsWithTheSameMean) {
  const Confidence confidence =
      confidence_of(R"({"mean_log_probability": [-2, -1, -1, 0], "confidence": [0.1, 0.3, 0.5, 0.7]})");
  EXPECT_DOUBLE_EQ(of_mean(confidence, -1), 0.3);
  EXPECT_DOUBLE_EQ(of_mean(confidence, -0.5), 0.6);
}

TEST(Confidence, ATableWithBadNumbersIsRefused) {
  struct Case {
    const char* table;
    const char* message;
  };
  constexpr const char* kMeans = "'mean_log_probability' is not a list of ascending numbers from -1000 to 0";
  constexpr const char* kValues = "'confidence' is not a list of ascending numbers from 0 to 1";
  for (const auto& [table, message] :
       {Case{R"({"confidence": [0.5]})", kMeans}, Case{R"({"mean_log_probability": [], "confidence": []})", kMeans},
        Case{R"({"mean_log_probability": -1, "confidence": [0.5]})", kMeans},
        Case{R"({"mean_log_probability": [-1, -2], "confidence": [0.1, 0.5]})", kMeans},
        Case{R"({"mean_log_probability": [-1, 0.5], "confidence": [0.1, 0.5]})", kMeans},
        Case{R"({"mean_log_probability": [-1001, 0], "confidence": [0.1, 0.5]})", kMeans},
        Case{R"({"mean_log_probability": [-1, "0"], "confidence": [0.1, 0.5]})", kMeans},
        Case{R"({"mean_log_probability": [-1]})", kValues},
        Case{R"({"mean_log_probability": [-1], "confidence": [1.5]})", kValues},
        Case{R"({"mean_log_probability": [-2, -1], "confidence": [0.5, 0.1]})", kValues},
        Case{R"({"mean_log_probability": [-2, -1], "confidence": [0.5]})",
             "2 numbers in 'mean_log_probability' but 1 in 'confidence', expected as many"}}) {
    const std::string found = message_of<ConfigError>([text = table] { confidence_of(text); });
    EXPECT_THAT(found, HasSubstr(std::string("confidence.json: ") + message)) << table;
  }
}

TEST(Confidence, ATableThatIsNoJsonObjectIsRefused) {
  for (const char* table : {"", "[]", R"({"mean_log_probability": [-1)", "\xff"}) {
    EXPECT_THAT(message_of<FileError>([&] { confidence_of(table); }), HasSubstr("confidence.json")) << table;
  }
}

}  // namespace
}  // namespace encdec
