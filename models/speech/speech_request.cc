#include "encdec/models/speech/speech_request.h"

#include <utility>

namespace encdec {

SpeechRequest::SpeechRequest(const Model& model, std::shared_ptr<const RecordingTask> task, Recording recording,
                             TranscribeHandlers handlers)
    : RequestState(model, [on_failure = std::move(handlers.on_failure)](
                              std::size_t, std::exception_ptr failure) { on_failure(std::move(failure)); }),
      task_(std::move(task)),
      is_cut_(recording.is_cut),
      recording_(std::move(recording)),
      handlers_(std::move(handlers)) {}

RequestState::Prepared SpeechRequest::prepare(DecodeJob& job, Clock::time_point until) {
  if (is_over()) return Prepared::over;
  try {
    if (!transcriber_) transcriber_ = task_->open(std::move(recording_));
    while (!transcriber_->read()) {
      if (Clock::now() >= until) return Prepared::unfinished;
    }
    if (std::optional<DecodeJob> window = transcriber_->next()) {
      window->client = std::move(job.client);
      job = *std::move(window);
      return Prepared::ready;
    }
    Transcript transcript = transcriber_->transcript();
    transcript.is_cut = *is_cut_;
    call([&] { handlers_.on_result(std::move(transcript)); });
  } catch (...) {
    on_failure(job, std::current_exception());
  }
  return Prepared::over;
}

// A window has been decoded.
void SpeechRequest::on_result(const DecodeJob& job, std::vector<Hypothesis> hypotheses) {
  if (is_over()) return;
  try {
    const std::vector<TranscriptSegment> segments = transcriber_->finish(std::move(hypotheses));
    if (!segments.empty() && handlers_.on_segments) call([&] { handlers_.on_segments(segments); });
    if (handlers_.on_progress) {
      const double seconds = transcriber_->seconds_done();
      call([&] { handlers_.on_progress(seconds); });
    }
    if (!is_over()) enqueue(task_->any_window());
  } catch (...) {
    on_failure(job, std::current_exception());
  }
}

}  // namespace encdec
