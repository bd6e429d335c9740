#include "encdec/speech/transcription/moonshine_task.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

#include "encdec/engine/base/cancellation.h"
#include "encdec/engine/base/refuse.h"
#include "encdec/models/checkpoint/whisper_format.h"
#include "encdec/models/generation/generation_task.h"
#include "encdec/speech/features/log_mel.h"
#include "encdec/speech/transcript/hallucination.h"

namespace encdec {
namespace {

// Maximum tokens per second: first for English and Spanish, then for other languages (Moonshine's README).
constexpr double kTokensPerSecond = 6.5, kOtherTokensPerSecond = 13;

// Returns `options`. Throws ConfigError for options that Moonshine does not support.
const TranscribeOptions& checked(const ModelParts& parts, const TranscribeOptions& options) {
  for (const auto& [name, is_given] :
       {std::pair{"task translate", options.task == SpeechTask::translate},
        {"word_timestamps", options.word_timestamps},
        {"hallucination_silence_threshold", options.hallucination_silence_threshold.has_value()},
        {"initial_prompt", !options.initial_prompt.empty()},
        {"hotwords", !options.hotwords.empty()},
        {"clip_timestamps", !options.clip_timestamps.empty()}}) {
    if (is_given) {
      refuse<ConfigError>(parts.origin, "{} is not available with {}, expected a model of the family whisper", name,
                          parts.network.config.model_type);
    }
  }
  return options;
}

// Minimum number of samples in a window: 0.1 s. Shorter windows have no text, as in Moonshine's own package.
constexpr std::size_t kShortest = AudioReader::kSampleRate / 10;

double seconds_of(std::uint64_t samples) {
  return static_cast<double>(samples) / AudioReader::kSampleRate;
}

// The transcriber of MoonshineTask. A recording of at most MoonshineTask::window_samples() is one window.
// quiet_split() splits longer recordings into several windows. Windows do not depend on each other.
class MoonshineTranscriber final : public Transcriber {
 public:
  MoonshineTranscriber(const MoonshineTask& task, Recording recording)
      : Transcriber(std::move(recording), task.voice_activity(), task.options().vad), task_(task) {}

  std::optional<DecodeJob> next() override {
    const std::span<const float> samples(samples_);
    const std::size_t most = task_.window_samples();
    window_ = samples.size() > most ? quiet_split(samples.first(most)) : samples.size();
    // Only the first window can use encoder output that a live session has already computed.
    if (window_ >= kShortest) {
      DecodeJob job = task_.window(samples.first(window_), draft_);
      if (encode_ && done_ == 0) job.prompt.encoded = encode_(samples.first(window_));
      return job;
    }
    done_ += std::exchange(window_, 0);
    return std::nullopt;
  }

  std::vector<TranscriptSegment> finish(std::vector<Hypothesis> hypotheses) override {
    TranscriptSegment segment = task_.segment(std::move(hypotheses));
    segment.start = seconds_of(done_);
    segment.seek = done_ / LogMel::kHop;
    done_ += window_;
    segment.end = seconds_of(done_);
    samples_.erase(samples_.begin(), samples_.begin() + static_cast<std::ptrdiff_t>(window_));
    if (segment.text.empty()) return {};
    segment.id = segment_count_++;
    text_ += segment.text;
    restore(segment);
    return {std::move(segment)};
  }

  double seconds_done() const override { return restored(seconds_of(done_)); }
  Transcript transcript() const override {
    return {.text = text_, .language = task_.language(), .duration = duration(seconds_of(done_))};
  }

 private:
  void open(Recording recording) override {
    read_ = recording.open();
    draft_ = std::move(recording.draft);
    encode_ = std::move(recording.encode);
  }

  bool read_window() override {
    check_cancelled();
    // Read more samples than a window has, to find out whether the recording continues after the window.
    if (is_at_end_ || samples_.size() > task_.window_samples()) return true;
    const std::size_t before = samples_.size();
    samples_.resize(before + Recording::kReadTogether);
    const std::size_t count = read_(std::span(samples_).subspan(before));
    samples_.resize(before + count);
    is_at_end_ = count < Recording::kReadTogether;
    return is_at_end_ || samples_.size() > task_.window_samples();
  }

  const MoonshineTask& task_;
  Recording::Read read_;
  std::string draft_;
  std::function<Tensor(std::span<const float> samples)> encode_;  // Recording::encode
  std::vector<float> samples_;
  std::uint64_t done_ = 0;
  std::size_t window_ = 0;  // number of samples in the current window
  bool is_at_end_ = false;
  std::string text_;
  std::size_t segment_count_ = 0;
};

}  // namespace

std::size_t quiet_split(std::span<const float> samples) {
  constexpr std::size_t kWidth = 1600, kStep = 160;  // in samples
  const auto energy = [&](std::size_t first) {
    double sum = 0;
    for (const float sample : samples.subspan(first, kStep)) sum += double{sample} * double{sample};
    return sum;
  };
  // Slide a range of kWidth samples by kStep, and find the range with the least energy.
  std::size_t quietest = 0;
  double least = 0;
  for (std::size_t first = samples.size() * 2 / 3; first + kWidth <= samples.size(); first += kStep) {
    double sum = 0;
    for (std::size_t step = 0; step < kWidth; step += kStep) sum += energy(first + step);
    if (quietest == 0 || sum <= least) {
      quietest = first;
      least = sum;
    }
  }
  return quietest + kWidth / 2;
}

MoonshineTask::MoonshineTask(const ModelParts& parts, const TranscribeOptions& options)
    : RecordingTask(checked(parts, options)), parts_(parts) {
  tokenizer_of(parts);
  if (!options.language.empty()) {
    const auto code = whisper_language_code(options.language);
    if (!code) {
      refuse<ConfigError>(parts.origin, "language '{}' is not known, expected a code such as en",
                          printable(options.language));
    }
    language_ = *code;
  }
  GenerationTask(parts, search(AudioReader::kSampleRate));  // checks the options
}

std::size_t MoonshineTask::window_samples() const {
  const StackConfig& encoder = parts_.network.config.encoder;
  constexpr std::size_t kMost = std::size_t{30} * AudioReader::kSampleRate;
  const auto rows = encoder.position_limit();
  return rows ? std::min(kMost, static_cast<std::size_t>(encoder.frames.frames_for(*rows + 1) - 1)) : kMost;
}

// Returns the generate() options for a window of `samples` samples.
GenerateOptions MoonshineTask::search(std::size_t samples) const {
  const TranscribeOptions& asked = options();
  const bool is_other = language_ != "en" && language_ != "es";
  const double seconds = static_cast<double>(samples) / AudioReader::kSampleRate;
  const auto tokens = static_cast<Dim>(seconds * (is_other ? kOtherTokensPerSecond : kTokensPerSecond));
  GenerateOptions settings;
  // `tokens` and the position count include the start token, like max_length in transformers.
  settings.max_new_tokens =
      static_cast<int>(std::clamp<Dim>(tokens, 2, parts_.network.config.decoder.positions.count) - 1);
  const double temperature = asked.temperatures.front();
  settings.do_sample = temperature > 0;
  settings.num_beams = temperature > 0 ? 1 : asked.beam_size;
  settings.num_return_sequences = temperature > 0 ? asked.best_of : 1;
  if (temperature > 0) settings.temperature = static_cast<float>(temperature);
  // Copy the options that mean the same in transcribe() and generate(). Token -1 has a meaning only for Whisper.
  if (asked.length_penalty) settings.length_penalty = static_cast<float>(*asked.length_penalty);
  settings.suppress_tokens.emplace();
  std::ranges::copy_if(asked.suppress_tokens, std::back_inserter(*settings.suppress_tokens),
                       [](std::int32_t token) { return token != -1; });
  settings.num_assistant_tokens = asked.num_assistant_tokens;
  settings.prompt_lookup_num_tokens = asked.prompt_lookup_num_tokens;
  settings.seed = asked.seed;
  return settings;
}

DecodeJob MoonshineTask::window(std::span<const float> samples, const std::string& draft) const {
  Tensor frames = Tensor::uninitialized({static_cast<Dim>(samples.size()), 1});
  std::ranges::copy(samples, frames.data<float>());
  DecodeJob job =
      GenerationTask(parts_, search(samples.size())).job({.source = TokenIds(), .frames = std::move(frames)}, 0);
  if (!draft.empty()) job.prompt.draft = tokenizer_of(parts_).encode_target(draft, {});
  return job;
}

TranscriptSegment MoonshineTask::segment(std::vector<Hypothesis> hypotheses) const {
  Hypothesis& best = *std::ranges::max_element(hypotheses, {}, &Hypothesis::score);
  TranscriptSegment segment{.temperature = options().temperatures.front()};
  for (const float score : best.token_scores) segment.avg_logprob += double{score};
  segment.avg_logprob /= static_cast<double>(std::max<std::size_t>(best.token_scores.size(), 1));
  segment.text = decode_known(tokenizer_of(parts_), best.token_ids);
  if (!segment.text.empty()) segment.text.insert(0, " ");
  // The segment's tokens do not include the end token.
  if (parts_.defaults.eos_tokens && !best.token_ids.empty() &&
      std::ranges::find(*parts_.defaults.eos_tokens, best.token_ids.back()) != parts_.defaults.eos_tokens->end()) {
    best.token_ids.pop_back();
  }
  segment.compression_ratio = compression_ratio(segment.text);
  segment.tokens = std::move(best.token_ids);
  return segment;
}

std::size_t MoonshineTask::rows_per_window() const {
  return GenerationTask(parts_, search(window_samples())).rules().rows_per_source();
}

DecodeJob MoonshineTask::any_window() const {
  const GenerationTask task(parts_, search(window_samples()));
  DecodeJob job{.rules = std::make_shared<const SearchRules>(task.rules())};
  job.expected_rows =
      static_cast<std::size_t>(parts_.network.config.encoder.frames.rows_of(static_cast<Dim>(window_samples())));
  return job;
}

std::unique_ptr<Transcriber> MoonshineTask::open(Recording recording) const {
  return std::make_unique<MoonshineTranscriber>(*this, std::move(recording));
}

}  // namespace encdec
