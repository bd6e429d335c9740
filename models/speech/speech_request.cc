#include "encdec/models/speech/speech_request.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace encdec {

SpeechRequest::SpeechRequest(const Model& model, std::shared_ptr<const RecordingTask> task, Recording recording,
                             TranscribeHandlers handlers)
    : RequestState(model, [on_failure = std::move(handlers.on_failure)](
                              std::size_t, std::exception_ptr failure) { on_failure(std::move(failure)); }),
      task_(std::move(task)),
      recording_(std::move(recording)),
      handlers_(std::move(handlers)),
      lanes_(task_->options().chunk_length == 0 ? 1 : kLanes) {}

// Returns the job that holds the place of a lane's next window in the queue.
DecodeJob SpeechRequest::any_window(std::size_t lane) const {
  DecodeJob job = task_->any_window();
  job.index = lane;
  return job;
}

RequestState::Prepared SpeechRequest::prepare(DecodeJob& job, Clock::time_point until) {
  if (is_over()) return Prepared::over;
  Lane& lane = lanes_[job.index];
  try {
    for (;;) {
      if (!lane.transcriber && !open(lane)) return Prepared::over;
      while (!lane.transcriber->read()) {
        if (Clock::now() >= until) return Prepared::unfinished;
      }
      if (std::optional<DecodeJob> window = lane.transcriber->next()) {
        window->index = job.index;
        window->client = std::move(job.client);
        job = *std::move(window);
        return Prepared::ready;
      }
      if (finish(lane)) return Prepared::over;
    }
  } catch (...) {
    on_failure(job, std::current_exception());
    return Prepared::over;
  }
}

// Opens the recording or its next chunk in a lane. Returns false after the last chunk.
bool SpeechRequest::open(Lane& lane) {
  if (lanes_.size() == 1) {
    lane.transcriber = task_->open(std::move(recording_));
    return true;
  }
  const bool is_first = !chunks_;
  if (is_first) chunks_ = task_->cut(recording_);
  auto chunk = chunks_->next();
  if (!chunk) return false;
  lane.chunk = chunk->number;
  lane.transcriber = task_->open(std::move(chunk->recording));
  if (is_first && !chunks_->is_cut()) {
    std::vector<DecodeJob> others;
    for (std::size_t other = 1; other < lanes_.size(); ++other) others.push_back(any_window(other));
    enqueue(std::move(others));
  }
  return true;
}

// Ends the recording or chunk of a lane. Returns true if the lane has no more work: then the whole recording is
// finished, and its transcript is passed on.
bool SpeechRequest::finish(Lane& lane) {
  Transcript transcript = lane.transcriber->transcript();
  if (chunks_) {
    transcript.segments = std::exchange(lane.segments, {});
    lane.transcriber.reset();
    if (!chunks_->add(lane.chunk, std::move(transcript))) return false;
    transcript = chunks_->transcript();
  }
  const MutexLock lock(handlers_mutex_);
  pass_on(std::exchange(transcript.segments, {}));
  call([&] { handlers_.on_result(std::move(transcript)); });
  return true;
}

// A lane's window has been decoded.
void SpeechRequest::on_result(const DecodeJob& job, std::vector<Hypothesis> hypotheses) {
  if (is_over()) return;
  Lane& lane = lanes_[job.index];
  try {
    std::vector<TranscriptSegment> segments = lane.transcriber->finish(std::move(hypotheses));
    {
      const MutexLock lock(handlers_mutex_);
      if (chunks_) {
        std::ranges::move(segments, std::back_inserter(lane.segments));
      } else {
        pass_on(segments);
      }
      if (handlers_.on_progress) {
        const double seconds = chunks_ ? chunks_->seconds_done() : lane.transcriber->seconds_done();
        call([&] { handlers_.on_progress(seconds); });
      }
    }
    if (!is_over()) enqueue(any_window(job.index));
  } catch (...) {
    on_failure(job, std::current_exception());
  }
}

// Reports the failure of one lane, and ends the others.
void SpeechRequest::on_failure(const DecodeJob& job, const std::exception_ptr& failure) {
  const MutexLock lock(handlers_mutex_);
  RequestState::on_failure(job, failure);
  cancel();
}

// REQUIRES: handlers_mutex_ is held.
void SpeechRequest::pass_on(std::span<const TranscriptSegment> segments) {
  if (!segments.empty() && handlers_.on_segments) call([&] { handlers_.on_segments(segments); });
}

}  // namespace encdec
