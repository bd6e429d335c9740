#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "encdec/models/model/request_state.h"
#include "encdec/models/speech/speech_model.h"
#include "encdec/models/speech/transcription/recording_task.h"

namespace encdec {

// A request for the transcript of a recording. It has one window in the queue at a time: the next one waits when the
// previous one has been decoded. Workers read the recording when the turn of a window has come.
class SpeechRequest final : public RequestState {
 public:
  SpeechRequest(const Model& model, std::shared_ptr<const RecordingTask> task, Recording recording,
                TranscribeHandlers handlers);

  // Returns the jobs to submit the request with: one that holds the place of the first window in the queue.
  std::vector<DecodeJob> jobs() const { return {task_->any_window()}; }

  bool needs_preparation() const override { return true; }
  Prepared prepare(DecodeJob& job, Clock::time_point until) override;
  void on_result(const DecodeJob& job, std::vector<Hypothesis> hypotheses) override;

 private:
  std::shared_ptr<const RecordingTask> task_;
  std::shared_ptr<const std::atomic<bool>> is_cut_;
  Recording recording_;
  TranscribeHandlers handlers_;
  std::unique_ptr<Transcriber> transcriber_;  // set by the first worker
};

}  // namespace encdec
