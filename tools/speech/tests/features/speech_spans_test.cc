#include "encdec/speech/features/speech_spans.h"

#include <gtest/gtest.h>

#include "tools/speech/tests/golden_speech.h"

namespace encdec {
namespace {

VoiceActivityOptions vad_options_from(const nlohmann::json& json) {
  VoiceActivityOptions options;
  options.threshold = json.value("threshold", options.threshold);
  if (json.contains("neg_threshold")) options.neg_threshold = json.at("neg_threshold");
  options.min_speech_duration_ms = json.value("min_speech_duration_ms", options.min_speech_duration_ms);
  options.max_speech_duration_s = json.value("max_speech_duration_s", options.max_speech_duration_s);
  options.min_silence_duration_ms = json.value("min_silence_duration_ms", options.min_silence_duration_ms);
  options.speech_pad_ms = json.value("speech_pad_ms", options.speech_pad_ms);
  return options;
}

TEST(SpeechSpans, MatchFasterWhisper) {
  for (const auto& golden : golden_speech("speech_spans")) {
    std::vector<float> probabilities;
    for (const int hundredths : golden.at("hundredths")) {
      probabilities.push_back(static_cast<float>(hundredths / 100.0));
    }
    std::vector<SpeechSpan> expected;
    for (const auto& span : golden.at("spans")) expected.push_back({span[0], span[1]});
    const auto spans = speech_spans(probabilities, golden.at("samples"), vad_options_from(golden.at("options")));
    EXPECT_TRUE(spans == expected) << golden.at("options") << testing::PrintToString(spans.size());
  }
}

TEST(SpeechSpans, PaddingStaysInTheRecording) {
  const std::vector<float> speech(10, 1.0F);
  EXPECT_EQ(speech_spans(speech, 5000, {}), (std::vector<SpeechSpan>{{0, 5000}}));
  EXPECT_EQ(speech_spans(speech, 5000, {.speech_pad_ms = 2'000'000'000}), (std::vector<SpeechSpan>{{0, 5000}}));
  EXPECT_EQ(speech_spans({}, 0, {}), std::vector<SpeechSpan>{});
}

}  // namespace
}  // namespace encdec
