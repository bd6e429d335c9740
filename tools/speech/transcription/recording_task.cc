#include "encdec/speech/transcription/recording_task.h"

#include <algorithm>
#include <utility>

#include "encdec/engine/base/error.h"
#include "encdec/models/generation/batch_limits.h"
#include "encdec/speech/transcription/transcribe_settings.h"

namespace encdec {

Transcriber::Transcriber(Recording recording, const std::shared_ptr<const VoiceActivity>& voice_activity,
                         const VoiceActivityOptions& options)
    : seconds_(recording.seconds) {
  if (voice_activity != nullptr) finder_.emplace(recording, voice_activity, options);
  recording_ = std::move(recording);
}

bool Transcriber::read() {
  // With voice activity detection, find the speech in a first pass. Then replace the recording by the speech.
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

RecordingTask::RecordingTask(const TranscribeOptions& options) : options_(options) {
  if (options.temperatures.empty()) throw ConfigError("temperatures is empty, expected at least one value");
  check_ranges(transcribe_settings(), options);
  check_batching(options.batch_size, options.workers);
  if (!std::ranges::is_sorted(options.clip_timestamps)) {
    throw ConfigError("clip_timestamps: expected seconds in ascending order");
  }
  if (options.vad_model.empty()) return;
  if (!options.clip_timestamps.empty()) {
    throw ConfigError("vad_model with clip_timestamps, expected one of them: both choose what to transcribe");
  }
  voice_activity_ = std::make_shared<const VoiceActivity>(VoiceActivity::load(options.vad_model.string()));
}

}  // namespace encdec
