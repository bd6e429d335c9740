#include "encdec/models/speech/transcription/moonshine_transcriber.h"

#include <utility>

#include "encdec/engine/base/cancellation.h"
#include "encdec/models/speech/features/log_mel.h"
#include "encdec/models/speech/transcription/quiet_cut.h"

namespace encdec {
namespace {

// Windows with fewer samples (0.1 s) have no text, as in Moonshine's own package.
constexpr std::size_t kShortest = AudioReader::kSampleRate / 10;

}  // namespace

MoonshineTranscriber::MoonshineTranscriber(const MoonshineTask& task, Recording recording)
    : Transcriber(std::move(recording), task.voice_activity(), task.options().vad), task_(task) {}

void MoonshineTranscriber::open(Recording recording) {
  read_ = recording.open();
  draft_ = std::move(recording.draft);
  encode_ = std::move(recording.encode);
}

bool MoonshineTranscriber::read_window() {
  check_cancelled();
  // One sample more than a window shows whether the recording goes on.
  if (is_at_end_ || samples_.size() > task_.window_samples()) return true;
  const std::size_t before = samples_.size();
  samples_.resize(before + Recording::kReadTogether);
  const std::size_t count = read_(std::span(samples_).subspan(before));
  samples_.resize(before + count);
  is_at_end_ = count < Recording::kReadTogether;
  return is_at_end_ || samples_.size() > task_.window_samples();
}

std::optional<DecodeJob> MoonshineTranscriber::next() {
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

std::vector<TranscriptSegment> MoonshineTranscriber::finish(std::vector<Hypothesis> hypotheses) {
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

Transcript MoonshineTranscriber::transcript() const {
  return {.text = text_, .language = task_.language(), .duration = duration(seconds_of(done_))};
}

}  // namespace encdec
