#include "encdec/speech/speech_model.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <future>
#include <thread>

#include "tests/support/message_of.h"
#include "tools/speech/tests/recordings.h"

namespace encdec {
namespace {

const std::filesystem::path kWhisper = std::filesystem::path(ENCDEC_GOLDEN_DIR) / "whisper_formats/hugging_face";

SpeechModel load() {
  return SpeechModel(Model::load(kWhisper));
}

TEST(SpeechModel, ARequestThatYieldsWaitsForAllOthers) {
  const SpeechModel model = load();
  RequestQueue queue(model.model(), {.batch_size = 1});
  std::promise<void> all_submitted, all_done;
  std::string order;
  const auto submit = [&](char name, std::uint64_t client, bool yields) {
    Recording own = tone(0.5);
    if (name == 'a') {  // keeps the worker busy until all recordings are submitted
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
  while (reads == before) std::this_thread::yield();  // endless; the queue must still stop
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
