#include "encdec/speech/transcription/speech_only.h"

#include <algorithm>
#include <span>
#include <utility>

#include "encdec/engine/base/cancellation.h"

namespace encdec {
namespace {

// Reads the samples of a recording that are in `spans`, and skips all other samples.
class SpanReader {
 public:
  SpanReader(Recording::Read read, std::shared_ptr<const std::vector<SpeechSpan>> spans)
      : read_(std::move(read)), spans_(std::move(spans)) {}

  std::size_t operator()(std::span<float> samples) {
    std::size_t filled = 0;
    while (filled < samples.size() && span_ < spans_->size()) {
      const auto& [start, end] = (*spans_)[span_];
      if (position_ >= end) {
        ++span_;
        continue;
      }
      // Recordings cannot seek. To skip the samples before a span, read them into scratch memory.
      const bool skips = position_ < start;
      const std::span<float> to = skips ? std::span(skipped_) : samples.subspan(filled);
      const auto wanted =
          static_cast<std::size_t>(std::min<std::uint64_t>((skips ? start : end) - position_, to.size()));
      const std::size_t count = read_(to.first(wanted));
      position_ += count;
      if (!skips) filled += count;
      if (count < wanted) break;
    }
    return filled;
  }

 private:
  Recording::Read read_;
  std::shared_ptr<const std::vector<SpeechSpan>> spans_;
  std::size_t span_ = 0;
  std::uint64_t position_ = 0;  // index of the next sample in the recording
  std::vector<float> skipped_ = std::vector<float>(Recording::kReadTogether);
};

}  // namespace

SpeechFinder::SpeechFinder(const Recording& recording, const std::shared_ptr<const VoiceActivity>& model,
                           const VoiceActivityOptions& options)
    : options_(options), detector_(make_speech_detector(model)), chunk_(Recording::kReadTogether) {
  read_ = recording.open();
}

bool SpeechFinder::read() {
  check_cancelled();
  const std::size_t count = read_(chunk_);
  detector_->push(std::span(chunk_).first(count), probabilities_);
  samples_ += count;
  return count < chunk_.size();
}

std::vector<SpeechSpan> SpeechFinder::spans() {
  detector_->finish(probabilities_);
  return speech_spans(probabilities_, samples_, options_);
}

Recording speech_of(Recording recording, std::vector<SpeechSpan> spans) {
  std::uint64_t samples = 0;
  for (const SpeechSpan& span : spans) samples += span.end - span.start;
  return {.name = std::move(recording.name),
          .open = [open = std::move(recording.open),
                   shared = std::make_shared<const std::vector<SpeechSpan>>(std::move(spans))]() -> Recording::Read {
            return SpanReader(open(), shared);
          },
          .seconds = static_cast<double>(samples) / AudioReader::kSampleRate};
}

}  // namespace encdec
