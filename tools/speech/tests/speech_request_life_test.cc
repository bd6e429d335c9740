#include "encdec/speech/speech_model.h"
#include "tests/models/model/request_life.h"

namespace encdec::request_life {
namespace {

std::function<Request(RequestQueue&, Steps&, Calls&)> transcribing(const SpeechModel& model,
                                                                   const TranscribeOptions& options,
                                                                   std::optional<std::string> text = {}) {
  return [=](RequestQueue& queue, Steps& steps, Calls& calls) {
    std::vector<float> samples(AudioReader::kSampleRate);
    for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<float>(i * 7919 % 2000) / 2000 - 0.5f;
    const Recording noise = Recording::of_samples(samples);
    const Recording recording{.name = "noise",
                              .open = [&, open = noise.open]() -> Recording::Read {
                                steps.next();
                                return [&, read = open()](std::span<float> to) {
                                  steps.next();
                                  return read(to);
                                };
                              },
                              .text = text};
    return model.submit(queue, recording, options,
                        {.on_result = [&](const Transcript&) { calls.add(steps, "transcript", true); },
                         .on_failure = [&](const std::exception_ptr&) { calls.add(steps, "failure", true); },
                         .on_segments =
                             [&](std::span<const TranscriptSegment> segments) {
                               calls.add(steps, "segments " + ids(segments.front().tokens));
                             }});
  };
}

std::vector<Kind> kinds() {
  const std::filesystem::path folder = std::filesystem::path(ENCDEC_GOLDEN_DIR) / "whisper_formats/hugging_face";
  const SpeechModel model(Model::load(folder, {.threads = 1}));
  TranscribeOptions words;
  words.word_timestamps = true;
  return {{"recording", model.model(), transcribing(model, words)},
          {"known text", model.model(), transcribing(model, {}, "a b\nc d e\nthe end")}};
}

TEST(SpeechRequestLife, ACancelledRequestGetsNoMoreCallsAndTheOthersDoNotChange) {
  for (const Kind& kind : kinds()) check_cancelling(kind);
}

TEST(SpeechRequestLife, AQueueCanBeDestroyedAtAnyStep) {
  for (const Kind& kind : kinds()) check_stopping(kind);
}

}  // namespace
}  // namespace encdec::request_life
