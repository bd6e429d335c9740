#include "encdec/models/speech/transcription/recording_task.h"

#include <algorithm>

#include "encdec/engine/base/error.h"
#include "encdec/models/generation/batch_limits.h"
#include "encdec/models/speech/transcription/transcribe_settings.h"

namespace encdec {

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
