// Tests Moonshine's windows and options. tests/golden/make_moonshine.py makes the models.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "encdec/engine/base/error.h"
#include "encdec/speech/speech_model.h"
#include "encdec/speech/transcription/moonshine_task.h"
#include "tests/support/message_of.h"
#include "tests/support/moonshine.h"
#include "tests/support/temp_folder.h"
#include "tools/speech/tests/features/random_voice_activity.h"

namespace encdec {
namespace {

using testing::HasSubstr;

double seconds(std::size_t samples) {
  return static_cast<double>(samples) / AudioReader::kSampleRate;
}

// Returns a clip, repeated to `count` samples.
Recording sound(std::size_t count) {
  const Tensor clip = moonshine_clips().back();
  std::vector<float> samples;
  for (std::size_t i = 0; i < count; ++i)
    samples.push_back(clip.data<float>()[i % static_cast<std::size_t>(clip.rows())]);
  return Recording::of_samples(std::move(samples));
}

class MoonshineTranscriberTest : public testing::TestWithParam<const char*> {
 protected:
  const SpeechModel model_{Model::load(kMoonshine / GetParam())};
};

TEST_P(MoonshineTranscriberTest, WritesTheTextOfTransformersAsOneSegment) {
  const auto expected = read_safetensors(kMoonshine / GetParam() / "transformers.safetensors");
  const std::vector<Tensor> clips = moonshine_clips();
  for (std::size_t i = 1; i < clips.size(); ++i) {
    const float* samples = clips[i].data<float>();
    for (const int beams : {1, 5}) {
      TokenIds ids = ids_in(*expected, std::to_string(i) + "/transcript_" + std::to_string(beams));
      const std::string text = " " + model_.model().tokenizer()->decode(ids);
      if (ids.back() == 2) ids.pop_back();
      const Transcript transcript =
          model_.transcribe(Recording::of_samples({samples, samples + clips[i].rows()}), {.beam_size = beams});
      ASSERT_EQ(transcript.segments.size(), 1u);
      const TranscriptSegment& segment = transcript.segments[0];
      EXPECT_EQ(segment.tokens, ids);
      EXPECT_EQ(segment.text, text);
      EXPECT_EQ(transcript.text, text);
      EXPECT_EQ(segment.start, 0);
      EXPECT_EQ(segment.end, seconds(static_cast<std::size_t>(clips[i].rows())));
      EXPECT_EQ(transcript.duration, segment.end);
      EXPECT_EQ(transcript.language, "en");
      EXPECT_LT(segment.avg_logprob, 0);
    }
  }
}

TEST_P(MoonshineTranscriberTest, AWindowOfALongRecordingIsDecodedAsIfAlone) {
  const std::size_t longest = MoonshineTask(model_.model().parts(), {}).window_samples();
  std::vector<float> samples(longest * 5 / 2);
  sound(samples.size()).open()(samples);
  const TranscribeOptions options{.beam_size = 1};
  const Transcript transcript = model_.transcribe(Recording::of_samples(samples), options);
  ASSERT_GE(transcript.segments.size(), 3u);
  EXPECT_EQ(transcript.duration, seconds(samples.size()));
  std::size_t begin = 0;
  std::string text;
  for (const TranscriptSegment& segment : transcript.segments) {
    EXPECT_EQ(segment.start, seconds(begin));
    const auto end = static_cast<std::size_t>(std::lround(segment.end * AudioReader::kSampleRate));
    ASSERT_LE(end - begin, longest);
    const std::vector<float> own(samples.begin() + static_cast<std::ptrdiff_t>(begin),
                                 samples.begin() + static_cast<std::ptrdiff_t>(end));
    const Transcript alone = model_.transcribe(Recording::of_samples(own), options);
    EXPECT_EQ(segment.tokens, alone.segments.at(0).tokens);
    EXPECT_EQ(segment.avg_logprob, alone.segments.at(0).avg_logprob);
    text += segment.text;
    begin = end;
  }
  EXPECT_EQ(begin, samples.size());
  EXPECT_EQ(transcript.text, text);
}

INSTANTIATE_TEST_SUITE_P(Models, MoonshineTranscriberTest, testing::ValuesIn(kMoonshineModels));

TEST(Moonshine, HasNoTextForATenthOfASecond) {
  const SpeechModel model(Model::load(kMoonshine / "untied"));
  for (const std::size_t count : {0u, 1u, 1599u, 1600u}) {
    const Transcript transcript = model.transcribe(sound(count));
    EXPECT_EQ(transcript.segments.size(), count < 1600 ? 0u : 1u);
    EXPECT_EQ(transcript.duration, seconds(count));
  }
}

TEST(Moonshine, OtherLanguagesMayHaveMoreTokens) {
  const SpeechModel model(Model::load(kMoonshine / "old_keys"));
  for (const auto& [language, code, tokens] : {std::tuple{"es", "es", 12u}, {"Japanese", "ja", 25u}}) {
    const Transcript transcript = model.transcribe(sound(32'000), {.language = language, .beam_size = 1});
    EXPECT_EQ(transcript.language, code);
    EXPECT_EQ(transcript.segments.at(0).tokens.size(), tokens);
  }
}

TEST(Moonshine, TranscribesOnlyTheSpeechThatVoiceActivityFinds) {
  const TempFolder folder;
  write_safetensors(folder / "vad.safetensors", random_voice_activity());
  const SpeechModel model(Model::load(kMoonshine / "untied"));
  const Recording recording = Recording::of_samples(voice_activity_samples(48'000));
  TranscribeOptions options{.beam_size = 1, .vad_model = folder / "vad.safetensors"};
  options.vad = {.threshold = 0.51, .min_speech_duration_ms = 0, .min_silence_duration_ms = 0, .speech_pad_ms = 0};
  const auto vad = std::make_shared<const VoiceActivity>(VoiceActivity::load(options.vad_model.string()));
  SpeechFinder finder(recording, vad, options.vad);
  while (!finder.read()) {
  }
  const std::vector<SpeechSpan> spans = finder.spans();
  ASSERT_FALSE(spans.empty());
  const Transcript alone = model.transcribe(speech_of(recording, spans), {.beam_size = 1});
  ASSERT_LT(alone.duration, 3);
  const Transcript transcript = model.transcribe(recording, options);
  EXPECT_EQ(transcript.duration, 3);
  ASSERT_EQ(transcript.segments.size(), 1u);
  EXPECT_EQ(transcript.segments[0].tokens, alone.segments.at(0).tokens);
  EXPECT_EQ(transcript.segments[0].start, seconds(spans.front().start));
  EXPECT_EQ(transcript.segments[0].end, seconds(spans.back().end));
}

TEST(Moonshine, SamplesAboveTemperatureZero) {
  const SpeechModel model(Model::load(kMoonshine / "untied"));
  const auto text = [&](std::uint64_t seed) {
    return model.transcribe(sound(16'000), {.temperatures = {0.8}, .best_of = 3, .seed = seed}).text;
  };
  EXPECT_EQ(text(1), text(1));
  EXPECT_NE(text(1), text(2));
}

TEST(Moonshine, RefusesOptionsThatItCannotFollow) {
  const SpeechModel model(Model::load(kMoonshine / "untied"));
  const auto refusal = [&](const TranscribeOptions& options) {
    return message_of<ConfigError>([&] { model.transcribe(sound(16'000), options); });
  };
  EXPECT_THAT(refusal({.task = SpeechTask::translate}),
              HasSubstr("task translate is not available with moonshine, expected a model of the family whisper"));
  EXPECT_THAT(refusal({.word_timestamps = true}), HasSubstr("word_timestamps is not available"));
  EXPECT_THAT(refusal({.initial_prompt = "a"}), HasSubstr("initial_prompt is not available"));
  EXPECT_THAT(refusal({.hotwords = "a"}), HasSubstr("hotwords is not available"));
  EXPECT_THAT(refusal({.clip_timestamps = {0, 1}}), HasSubstr("clip_timestamps is not available"));
  EXPECT_THAT(refusal({.language = "Klingon"}), HasSubstr("language 'Klingon' is not known"));
  EXPECT_THAT(refusal({.suppress_tokens = {300}}), HasSubstr("suppress_tokens"));
  EXPECT_THAT(refusal({.temperatures = {}}), HasSubstr("temperatures is empty"));
}

TEST(QuietCut, FindsTheQuietestTenthOfASecondOfTheLastThird) {
  std::vector<float> samples(48'000, 0.5F);
  EXPECT_EQ(quiet_split(samples), 47'200u) << "even sound is cut at its end";
  const auto silence = [&](std::size_t first, float level) {
    std::fill_n(samples.begin() + static_cast<std::ptrdiff_t>(first), 1600, level);
  };
  silence(8000, 0);  // too early
  silence(40'000, 0.1F);
  EXPECT_EQ(quiet_split(samples), 40'800u);
  silence(45'120, 0.1F);  // equally quiet, and later
  EXPECT_EQ(quiet_split(samples), 45'920u);
  silence(36'000, 0.05F);
  EXPECT_EQ(quiet_split(samples), 36'800u);
}

}  // namespace
}  // namespace encdec
