#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "encdec/speech/transcript/transcript_format.h"

namespace encdec {
namespace {

TEST(SegmentJson, HasTheKeysOfOpenaiInTheirOrder) {
  const TranscriptSegment segment{.id = 3,
                                  .seek = 3000,
                                  .start = 30,
                                  .end = 31.5,
                                  .text = " a\xff",
                                  .tokens = {50364, 1},
                                  .temperature = 0.2,
                                  .avg_logprob = -0.5,
                                  .compression_ratio = 1.25,
                                  .no_speech_prob = 1e-5,
                                  .words = {{" a", 30, 31, 0.75}}};
  const std::string fields =
      R"({"id": 3, "seek": 3000, "start": 30.0, "end": 31.5, "text": " a�", "tokens": [50364, 1], )"
      R"("temperature": 0.2, "avg_logprob": -0.5, "compression_ratio": 1.25, "no_speech_prob": 1e-05)";
  const std::string words = R"(, "words": [{"word": " a", "start": 30.0, "end": 31.0, "probability": 0.75}])";
  EXPECT_EQ(python_text(segment_json(segment, SegmentWords::none)), fields + "}");
  EXPECT_EQ(python_text(segment_json(segment, SegmentWords::with_probabilities)), fields + words + "}");
}

TEST(PythonText, WritesNumbersAsPythonDoes) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(python_text({0.0, -0.0, 1e15, 1e16, 1e-4, 1e-5, 0.1, infinity, 7, true, nullptr}),
            "[0.0, -0.0, 1000000000000000.0, 1e+16, 0.0001, 1e-05, 0.1, null, 7, true, null]");
  EXPECT_EQ(python_text(nlohmann::ordered_json::array()), "[]");
  EXPECT_EQ(python_text({{"b", "\"\n"}, {"a", nlohmann::ordered_json::object()}}), R"({"b": "\"\n", "a": {}})");
}

}  // namespace
}  // namespace encdec
