#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "encdec/engine/base/mutex.h"
#include "encdec/models/model/request_state.h"
#include "encdec/models/speech/speech_model.h"
#include "encdec/models/speech/transcription/recording_task.h"

namespace encdec {

// A request for the transcript of a recording. The recording is transcribed in one lane or, if it is cut into chunks,
// in up to kLanes lanes side by side; a lane that has finished its chunk takes the next one. A lane has one window in
// the queue at a time: the next one waits when the previous one has been decoded. Workers read the recording when the
// turn of a window has come.
class SpeechRequest final : public RequestState {
 public:
  SpeechRequest(const Model& model, std::shared_ptr<const RecordingTask> task, Recording recording,
                TranscribeHandlers handlers);

  // Returns the jobs to submit the request with.
  std::vector<DecodeJob> jobs() const { return {any_window(0)}; }

  bool needs_preparation() const override { return true; }
  Prepared prepare(DecodeJob& job, Clock::time_point until) override;
  void on_result(const DecodeJob& job, std::vector<Hypothesis> hypotheses) override;
  void on_failure(const DecodeJob& job, const std::exception_ptr& failure) override;

 private:
  // At most one worker uses a lane at a time.
  struct Lane {
    std::size_t chunk = 0;  // number of the current chunk
    std::unique_ptr<Transcriber> transcriber = {};
    std::vector<TranscriptSegment> segments = {};  // segments of the current chunk
  };
  static constexpr std::size_t kLanes = 32;

  DecodeJob any_window(std::size_t lane) const;
  bool open(Lane& lane);
  bool finish(Lane& lane);
  void pass_on(std::span<const TranscriptSegment> segments);

  std::shared_ptr<const RecordingTask> task_;
  Recording recording_;
  TranscribeHandlers handlers_;
  std::vector<Lane> lanes_;
  std::unique_ptr<ChunkedRecording> chunks_;  // set by the first lane; null without chunks
  Mutex handlers_mutex_;                      // held while a handler is called
};

}  // namespace encdec
