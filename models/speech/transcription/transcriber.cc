#include "encdec/models/speech/transcription/transcriber.h"

#include <utility>

namespace encdec {

Transcriber::Transcriber(Recording recording, const std::shared_ptr<const VoiceActivity>& voice_activity,
                         const VoiceActivityOptions& options)
    : seconds_(recording.seconds) {
  if (voice_activity != nullptr) finder_.emplace(recording, voice_activity, options);
  recording_ = std::move(recording);
}

bool Transcriber::read() {
  if (finder_) {
    if (!finder_->read()) return false;
    const std::vector<SpeechSpan> spans = finder_->spans();
    finder_.reset();
    times_.emplace(spans);
    recording_ = speech_of(*std::move(recording_), spans);
  }
  if (recording_) {
    open(*std::move(recording_));
    recording_.reset();
  }
  return read_window();
}

void Transcriber::restore(TranscriptSegment& segment) const {
  if (times_) times_->restore(segment);
}

double Transcriber::restored(double seconds) const {
  return times_ ? times_->original(seconds, SpeechTimeMap::Edge::end) : seconds;
}

}  // namespace encdec
