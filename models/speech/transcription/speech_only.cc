#include "encdec/models/speech/transcription/speech_only.h"

#include <algorithm>
#include <span>
#include <utility>

#include "encdec/engine/base/cancellation.h"

namespace encdec {
namespace {

// A reader of the parts of a recording that are in spans.
class SpanReader {
 public:
  SpanReader(Recording::Read read, std::shared_ptr<const std::vector<SpeechSpan>> spans)
      : read_(std::move(read)), spans_(std::move(spans)) {}

  std::size_t operator()(std::span<float> samples) {
    std::size_t filled = 0;
    while (filled < samples.size() && span_ < spans_->size()) {
      const SpeechSpan& span = (*spans_)[span_];
      if (position_ < span.start) {
        if (!skip(span.start - position_)) break;
      } else if (position_ >= span.end) {
        ++span_;
      } else {
        const std::size_t wanted = at_most(span.end - position_, samples.size() - filled);
        const std::size_t count = read_(samples.subspan(filled, wanted));
        filled += count;
        position_ += count;
        if (count < wanted) break;
      }
    }
    return filled;
  }

 private:
  static std::size_t at_most(std::uint64_t samples, std::size_t limit) {
    return static_cast<std::size_t>(std::min<std::uint64_t>(samples, limit));
  }

  // Skips up to Recording::kReadTogether samples. Returns false if the recording ended.
  bool skip(std::uint64_t samples) {
    skipped_.resize(Recording::kReadTogether);
    const std::size_t wanted = at_most(samples, Recording::kReadTogether),
                      count = read_(std::span(skipped_).first(wanted));
    position_ += count;
    return count == wanted;
  }

  Recording::Read read_;
  std::shared_ptr<const std::vector<SpeechSpan>> spans_;
  std::size_t span_ = 0;
  std::uint64_t position_ = 0;  // number of the next sample of the recording
  std::vector<float> skipped_;
};

}  // namespace

SpeechFinder::SpeechFinder(const Recording& recording, const std::shared_ptr<const VoiceActivity>& model,
                           const VoiceActivityOptions& options)
    : options_(options), detector_(make_speech_detector(model)), piece_(Recording::kReadTogether) {
  read_ = recording.open();
}

bool SpeechFinder::read() {
  check_cancelled();
  const std::size_t count = read_(piece_);
  detector_->push(std::span(piece_).first(count), probabilities_);
  samples_ += count;
  return count < piece_.size();
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
