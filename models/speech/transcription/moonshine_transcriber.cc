#include <cstdint>
#include <functional>
#include <utility>

#include "encdec/engine/base/cancellation.h"
#include "encdec/models/speech/features/log_mel.h"
#include "encdec/models/speech/transcription/moonshine_task.h"

namespace encdec {
namespace {

// Windows with fewer samples (0.1 s) have no text, as in Moonshine's own package.
constexpr std::size_t kShortest = AudioReader::kSampleRate / 10;

double seconds_of(std::uint64_t samples) {
  return static_cast<double>(samples) / AudioReader::kSampleRate;
}

// A transcriber for MoonshineTask. A recording of at most MoonshineTask::window_samples() is one window. A longer one
// is cut by quiet_cut() again and again; the windows do not depend on each other.
class MoonshineTranscriber final : public Transcriber {
 public:
  MoonshineTranscriber(const MoonshineTask& task, Recording recording)
      : Transcriber(std::move(recording), task.voice_activity(), task.options().vad), task_(task) {}

  std::optional<DecodeJob> next() override {
    const std::span<const float> samples(samples_);
    const std::size_t most = task_.window_samples();
    window_ = samples.size() > most ? quiet_cut(samples.first(most)) : samples.size();
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
    // One sample more than a window shows that the recording has not ended.
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
  std::vector<float> samples_;                                    // samples that are in no window yet
  std::uint64_t done_ = 0;                                        // number of samples in windows
  std::size_t window_ = 0;                                        // samples in the current window
  bool is_at_end_ = false;
  std::string text_;
  std::size_t segment_count_ = 0;
};

}  // namespace

std::size_t quiet_cut(std::span<const float> samples) {
  constexpr std::size_t kWidth = 1600, kStep = 160;  // samples
  const auto energy = [&](std::size_t first) {
    double sum = 0;
    for (const float sample : samples.subspan(first, kStep)) sum += double{sample} * double{sample};
    return sum;
  };
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

std::unique_ptr<Transcriber> make_moonshine_transcriber(const MoonshineTask& task, Recording recording) {
  return std::make_unique<MoonshineTranscriber>(task, std::move(recording));
}

}  // namespace encdec
