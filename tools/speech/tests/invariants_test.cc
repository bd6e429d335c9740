// The speech tasks for the invariants of tests/models/invariants.h.
#include "tests/models/invariants.h"

#include <filesystem>

#include "encdec/speech/speech_model.h"
#include "encdec/speech/transcript/transcript_format.h"

namespace encdec::invariants {
namespace {

constexpr std::size_t kSources = 12;

// 0.5 to 2 seconds of noise. Opening and reading it count as steps.
Recording noise(std::size_t number, Steps& steps, const std::optional<std::string>& known, const std::string& draft) {
  std::vector<float> samples(AudioReader::kSampleRate / 2 * (1 + number % 4));
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i] = static_cast<float>((i + number) * 7919 % 2000) / 2000 - 0.5f;
  }
  return {.name = "noise",
          .open = [&steps, open = Recording::of_samples(samples).open]() -> Recording::Read {
            steps.next();
            return [&steps, read = open()](std::span<float> to) {
              steps.next();
              return read(to);
            };
          },
          .draft = draft,
          .text = known};
}

Task transcribing(const std::string& name, const std::string& folder, const TranscribeOptions& options,
                  std::optional<std::string> known = {}) {
  const std::filesystem::path path = std::filesystem::path(ENCDEC_GOLDEN_DIR) / folder;
  const auto load = [=](const LoadOptions& with, const TranscribeOptions& given, const std::string& draft = {}) {
    const SpeechModel model(Model::load(path, with));
    return Worker{
        model.model(), [=](RequestQueue& queue, std::size_t source, Steps& steps, Calls& calls) {
          return model.submit(
              queue, noise(source, steps, known, draft), given,
              {.on_result =
                   [&](const Transcript& transcript) { calls.end(steps, format(transcript, TranscriptFormat::json)); },
               .on_failure = [&](const std::exception_ptr& failure) { calls.fail(steps, failure); },
               .on_segments = [&](std::span<const TranscriptSegment>) { calls.add(steps); }});
        }};
  };
  Task task{.name = name, .sources = kSources, .load = [=](const LoadOptions& with) { return load(with, options); }};
  if (known || options.beam_size > 1) return task;  // without draft tokens
  TranscribeOptions lookup = options;
  lookup.prompt_lookup_num_tokens = 4;
  TranscribeOptions many = options;
  many.num_assistant_tokens = 9;
  task.drafted.push_back([=](const LoadOptions& with) { return load(with, lookup); });
  task.drafted.push_back(
      [=](const LoadOptions& with) { return load(with, many, "quite another text <|endoftext|> \xe2\x82\xac"); });
  task.drafted.push_back([=](LoadOptions with) {
    with.draft_model = path;
    return load(with, options);
  });
  for (const Precision draft : {Precision::int8, Precision::bfloat16}) {
    task.drafted.push_back([=](LoadOptions with) {
      with.draft_precision = draft;
      return load(with, options);
    });
  }
  return task;
}

const std::string kWhisper = "whisper_formats/hugging_face";
INSTANTIATE_TEST_SUITE_P(
    Speech, Invariants,
    testing::Values(transcribing("Words", kWhisper, {.temperatures = {0}, .beam_size = 1, .word_timestamps = true}),
                    transcribing("Beams", kWhisper, {.beam_size = 3}),
                    transcribing("Samples", kWhisper, {.temperatures = {0.8}, .beam_size = 1, .seed = 3}),
                    transcribing("KnownText", kWhisper, {}, "a b\nc d e\nthe end"),
                    transcribing("Moonshine", "moonshine/streaming", {.temperatures = {0}, .beam_size = 1})),
    kName);

}  // namespace
}  // namespace encdec::invariants
