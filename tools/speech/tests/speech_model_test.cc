#include "encdec/speech/speech_model.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <future>
#include <thread>

#include "encdec/speech/transcript/transcript_format.h"
#include "tests/support/message_of.h"
#include "tests/support/moonshine.h"
#include "tools/speech/tests/recordings.h"

namespace encdec {
namespace {

const std::filesystem::path kWhisper = std::filesystem::path(ENCDEC_GOLDEN_DIR) / "whisper_formats/hugging_face";

SpeechModel load() {
  return SpeechModel(Model::load(kWhisper));
}

// Returns all of a transcript, numbers without loss.
std::string all_of(const Transcript& transcript) {
  return format(transcript, TranscriptFormat::json);
}

class SpeechModels : public testing::TestWithParam<std::filesystem::path> {
 protected:
  SpeechModel load(const LoadOptions& options = {}) const { return SpeechModel(Model::load(GetParam(), options)); }
};

// Guesses of a model, of a text and of earlier tokens: right ones, wrong ones, and tokens that the model does not know.
TEST_P(SpeechModels, GuessesChangeNoTranscript) {
  const SpeechModel model = load(), copy = load({.draft_precision = Precision::int8}),
                    guessing = load({.draft_model = GetParam()});
  TranscribeOptions options{.temperatures = {0, 0.5}, .beam_size = 1};
  options.word_timestamps = GetParam() == kWhisper;
  const Transcript expected = model.transcribe(tone(3), options);
  std::size_t accepted = 0;
  options.on_work = [&](const GenerateProgress& work) { accepted = work.drafts.accepted; };
  const auto accepted_by = [&](const SpeechModel& with, const std::string& draft) {
    Recording own = tone(3);
    own.draft = draft;
    accepted = 0;
    EXPECT_EQ(all_of(with.transcribe(std::move(own), options)), all_of(expected));
    return accepted;
  };
  EXPECT_GT(accepted_by(copy, ""), 0u);
  EXPECT_GT(accepted_by(guessing, ""), 0u);
  EXPECT_EQ(accepted_by(model, ""), 0u);
  const std::size_t right = accepted_by(model, expected.text),
                    wrong = accepted_by(model, "quite another text <|endoftext|> \xe2\x82\xac");
  options.prompt_lookup_num_tokens = 3;
  const std::size_t repeated = accepted_by(model, "");
  options.num_assistant_tokens = 9;
  const std::size_t many = accepted_by(model, expected.text);
  if (GetParam() != kWhisper) return;  // Moonshine's random texts get other tokens when they are encoded again
  EXPECT_GT(right, wrong);
  EXPECT_GT(repeated, 0u);
  EXPECT_GT(many, 0u);
}

std::vector<std::filesystem::path> models() {
  std::vector<std::filesystem::path> all{kWhisper};
  for (const char* name : kMoonshineModels) all.push_back(kMoonshine / name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Speech, SpeechModels, testing::ValuesIn(models()),
                         [](const auto& tested) { return tested.param.filename().string(); });

TEST(SpeechModel, ARequestThatYieldsWaitsForAllOthers) {
  const SpeechModel model = load();
  RequestQueue queue(model.model(), {.batch_size = 1});
  std::promise<void> all_submitted, all_done;
  std::string order;
  const auto submit = [&](char name, std::uint64_t client, bool yields) {
    Recording own = tone(0.5);
    if (name == 'a') {  // the worker is busy with it until all are submitted
      own.open = [&, open = own.open] {
        all_submitted.get_future().wait();
        return open();
      };
    }
    const auto done = [&, name](const auto&) {
      if ((order += name).size() == 5) all_done.set_value();
    };
    model.submit(queue, std::move(own), {.beam_size = 1}, {.on_result = done, .on_failure = done}, client, yields);
  };
  submit('a', 0, false);
  submit('y', 7, true);
  submit('b', 7, false);
  submit('z', 0, true);
  submit('c', 8, false);
  all_submitted.set_value();
  all_done.get_future().wait();
  EXPECT_EQ(order, "abcyz");
}

TEST(SpeechModel, ARecordingWithoutEndDoesNotBlockOthers) {
  const SpeechModel model = load();
  std::atomic<int> reads = 0;
  const Recording endless{.name = "endless", .open = [&]() -> Recording::Read {
                            return [&](std::span<float> samples) {
                              ++reads;
                              return samples.size();
                            };
                          }};
  RequestQueue queue(model.model());
  model.submit(queue, endless, {}, {.on_result = [](auto&&) {}, .on_failure = [](auto&&) {}});
  while (reads == 0) std::this_thread::yield();
  for (int i = 0; i < 3; ++i) {
    std::promise<double> seconds;
    model.submit(queue, tone(0.5), {},
                 {.on_result = [&](const Transcript& transcript) { seconds.set_value(transcript.duration); },
                  .on_failure = [&](std::exception_ptr failure) { seconds.set_exception(std::move(failure)); }});
    std::future<double> future = seconds.get_future();
    ASSERT_EQ(future.wait_for(std::chrono::minutes(10)), std::future_status::ready);
    EXPECT_EQ(future.get(), 0.5);
  }
  const int before = reads;
  while (reads == before) std::this_thread::yield();  // the recording goes on; the queue must still end
}

TEST(SpeechModel, RefusesOptionsOutOfRange) {
  const SpeechModel model = load();
  const auto refusal = [&](const TranscribeOptions& options) {
    return message_of<ConfigError>([&] { model.transcribe(tone(0.1), options); });
  };
  EXPECT_EQ(refusal({.temperatures = {0}, .max_initial_timestamp = {}}), "no exception");
  EXPECT_EQ(refusal({.patience = 101}), "patience is 101, expected a number from 0 to 100");
  EXPECT_EQ(refusal({.patience = std::nan("")}), "patience is nan, expected a number from 0 to 100");
  EXPECT_EQ(refusal({.no_speech_threshold = 60}), "no_speech_threshold is 60, expected a number from 0 to 1");
  EXPECT_EQ(refusal({.workers = 0}), "workers is 0, expected 1 to 1024");
  EXPECT_EQ(refusal({.clip_timestamps = {2, 1}}), "clip_timestamps: expected seconds in ascending order");
  EXPECT_EQ(refusal({.suppress_tokens = {-2}}), "suppress_tokens is -2, expected an integer from -1 to 2147483647");
  EXPECT_EQ(refusal({.suppress_tokens = {1'000'000}}), "suppress_tokens: 1000000, expected -1 or 0 to 414");
  EXPECT_EQ(refusal({.hallucination_silence_threshold = 1}),
            "hallucination_silence_threshold without word_timestamps, expected both: it needs word times");
}

}  // namespace
}  // namespace encdec
