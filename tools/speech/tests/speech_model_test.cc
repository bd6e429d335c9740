#include "encdec/speech/speech_model.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <future>
#include <thread>

#include "encdec/engine/base/error.h"
#include "tests/support/message_of.h"

namespace encdec {
namespace {

SpeechModel load() {
  return SpeechModel(Model::load(std::filesystem::path(ENCDEC_GOLDEN_DIR) / "whisper_formats/hugging_face"));
}

// Returns a recording of a rising tone.
Recording recording(double seconds) {
  std::vector<float> samples(static_cast<std::size_t>(seconds * AudioReader::kSampleRate));
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double t = static_cast<double>(i) / AudioReader::kSampleRate;
    samples[i] = static_cast<float>(0.4 * std::sin(1'500 * t * (1 + t)));
  }
  return Recording::of_samples(std::move(samples));
}

TEST(SpeechModel, AQueueTranscribesAsTheModelDoes) {
  const SpeechModel model = load();
  RequestQueue queue(model.model(), {.workers = 2});
  std::vector<Transcript> transcripts(4);
  std::atomic<std::size_t> done = 0;
  std::vector<std::string> failures(transcripts.size());
  for (std::size_t i = 0; i < transcripts.size(); ++i) {
    TranscribeHandlers handlers;
    handlers.on_segments = [&, i](std::span<const TranscriptSegment> segments) {
      transcripts[i].segments.insert(transcripts[i].segments.end(), segments.begin(), segments.end());
    };
    handlers.on_result = [&, i](Transcript transcript) {
      transcript.segments = std::move(transcripts[i].segments);
      transcripts[i] = std::move(transcript);
      ++done;
    };
    handlers.on_failure = [&, i](const std::exception_ptr& failure) {
      failures[i] = message_of<Error>([&] { std::rethrow_exception(failure); });
      ++done;
    };
    Recording own = recording(0.5 + 0.7 * static_cast<double>(i));
    if (i == 2) own.open = []() -> Recording::Read { throw FileError("there is nothing"); };
    model.submit(queue, std::move(own), {}, std::move(handlers));
  }
  while (done < transcripts.size()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(failures, (std::vector<std::string>{"", "", "there is nothing", ""}));
  for (const std::size_t i : {0u, 1u, 3u}) {
    const Transcript alone = model.transcribe(recording(0.5 + 0.7 * static_cast<double>(i)));
    EXPECT_EQ(transcripts[i].text, alone.text);
    ASSERT_EQ(transcripts[i].segments.size(), alone.segments.size());
    for (std::size_t s = 0; s < alone.segments.size(); ++s) {
      EXPECT_EQ(transcripts[i].segments[s].tokens, alone.segments[s].tokens);
      EXPECT_EQ(transcripts[i].segments[s].avg_logprob, alone.segments[s].avg_logprob);
    }
  }
}

TEST(SpeechModel, ARequestThatYieldsWaitsForAllOthers) {
  const SpeechModel model = load();
  RequestQueue queue(model.model(), {.batch_size = 1});
  std::promise<void> all_submitted, all_done;
  std::string order;
  const auto submit = [&](char name, std::uint64_t client, bool yields) {
    Recording own = recording(0.5);
    if (name == 'a') {  // the worker is busy with it until all are submitted
      own.open = [&, open = own.open] {
        all_submitted.get_future().wait();
        return open();
      };
    }
    const auto done = [&, name] {
      if ((order += name).size() == 5) all_done.set_value();
    };
    model.submit(queue, std::move(own), {.beam_size = 1},
                 {.on_result = [done](const Transcript&) { done(); },
                  .on_failure = [done](const std::exception_ptr&) { done(); }},
                 client, yields);
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

TEST(SpeechModel, GuessesChangeNoTranscript) {
  const std::filesystem::path folder = std::filesystem::path(ENCDEC_GOLDEN_DIR) / "whisper_formats/hugging_face";
  for (const Precision precision : {Precision::float32, Precision::bfloat16}) {
    const SpeechModel model(Model::load(folder, {.precision = precision}));
    const SpeechModel guessing[] = {
        SpeechModel(Model::load(folder, {.precision = precision, .draft_precision = Precision::int8})),
        SpeechModel(Model::load(folder, {.precision = precision, .draft_model = folder}))};
    for (const bool timestamps : {true, false}) {
      TranscribeOptions options{.temperatures = {0, 0.5}, .beam_size = 1, .timestamps = timestamps};
      options.word_timestamps = true;
      const auto transcribe = [&](const SpeechModel& with) {
        return with.transcribe({recording(0.5), recording(1.9), recording(3)}, options);
      };
      const auto expected = transcribe(model);
      std::size_t accepted = 0;
      options.on_work = [&](const GenerateProgress& work) { accepted = work.drafts.accepted; };
      for (const SpeechModel& with : guessing) {
        const auto transcripts = transcribe(with);
        EXPECT_GT(accepted, 0u);
        for (std::size_t i = 0; i < expected.size(); ++i) {
          ASSERT_EQ(transcripts[i].segments.size(), expected[i].segments.size());
          for (std::size_t s = 0; s < expected[i].segments.size(); ++s) {
            EXPECT_EQ(transcripts[i].segments[s].tokens, expected[i].segments[s].tokens);
            EXPECT_EQ(transcripts[i].segments[s].avg_logprob, expected[i].segments[s].avg_logprob);
            EXPECT_EQ(transcripts[i].segments[s].temperature, expected[i].segments[s].temperature);
          }
        }
      }
    }
  }
}

// Guesses that are right, wrong, and not known to the model, in several windows.
TEST(SpeechModel, TextsThatGuessChangeNoTranscript) {
  const SpeechModel model = load();
  TranscribeOptions options{.temperatures = {0}, .beam_size = 1};
  const Transcript expected = model.transcribe(recording(3), options);
  std::size_t accepted = 0;
  options.on_work = [&](const GenerateProgress& work) { accepted = work.drafts.accepted; };
  const auto accepted_of = [&](const std::string& draft) {
    Recording own = recording(3);
    own.draft = draft;
    accepted = 0;
    const Transcript transcript = model.transcribe(std::move(own), options);
    EXPECT_EQ(transcript.text, expected.text);
    EXPECT_EQ(transcript.segments.size(), expected.segments.size());
    for (std::size_t i = 0; i < std::min(transcript.segments.size(), expected.segments.size()); ++i) {
      EXPECT_EQ(transcript.segments[i].tokens, expected.segments[i].tokens);
      EXPECT_EQ(transcript.segments[i].avg_logprob, expected.segments[i].avg_logprob);
    }
    return accepted;
  };
  EXPECT_EQ(accepted_of(""), 0u);
  EXPECT_GT(accepted_of(expected.text), accepted_of("quite another text <|endoftext|> \xe2\x82\xac"));
  options.prompt_lookup_num_tokens = 3;
  EXPECT_GT(accepted_of(""), 0u);
  options.num_assistant_tokens = 9;
  EXPECT_GT(accepted_of(expected.text), 0u);
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
  std::promise<Transcript> never;
  RequestQueue queue(model.model());
  const auto submit = [&](const Recording& recording, std::promise<Transcript>& result) {
    return model.submit(queue, recording, TranscribeOptions(),
                        {.on_result = [&](Transcript transcript) { result.set_value(std::move(transcript)); },
                         .on_failure = [&](std::exception_ptr failure) { result.set_exception(std::move(failure)); }});
  };
  submit(endless, never);
  while (reads == 0) std::this_thread::yield();
  for (int i = 0; i < 3; ++i) {
    std::promise<Transcript> result;
    submit(Recording::of_samples(std::vector<float>(8000)), result);
    std::future<Transcript> future = result.get_future();
    ASSERT_EQ(future.wait_for(std::chrono::minutes(10)), std::future_status::ready);
    EXPECT_EQ(future.get().duration, 0.5);
  }
  const int before = reads;
  while (reads == before) std::this_thread::yield();  // the recording goes on; the queue must still end
}

TEST(SpeechModel, RefusesNumbersOutOfRange) {
  const SpeechModel model = load();
  const auto refusal = [&](const TranscribeOptions& options) {
    return message_of<ConfigError>(
        [&] { model.transcribe(Recording::of_samples(std::vector<float>(1600), "a"), options); });
  };
  EXPECT_EQ(refusal({.temperatures = {0}, .max_initial_timestamp = {}}), "no exception");
  EXPECT_EQ(refusal({.max_initial_timestamp = 100.5}),
            "max_initial_timestamp is 100.5, expected a number from 0 to 100");
  EXPECT_EQ(refusal({.patience = 101}), "patience is 101, expected a number from 0 to 100");
  EXPECT_EQ(refusal({.patience = std::nan("")}), "patience is nan, expected a number from 0 to 100");
  EXPECT_EQ(refusal({.no_speech_threshold = 60}), "no_speech_threshold is 60, expected a number from 0 to 1");
}

TEST(SpeechModel, RefusesAModelOfText) {
  const Model text = Model::load(std::filesystem::path(ENCDEC_GOLDEN_DIR) / "marian/shared_swish/model");
  const std::string message = message_of<ConfigError>([&] { SpeechModel{text}; });
  EXPECT_NE(message.find("marian reads text, expected a model that reads sound"), message.npos) << message;
}

}  // namespace
}  // namespace encdec
