#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "encdec/models/model/request_state.h"
#include "encdec/models/speech/speech_model.h"
#include "encdec/models/speech/transcription/chunked_recording.h"
#include "encdec/models/speech/transcription/recording_transcriber.h"

namespace encdec {

// A request for the transcript of a recording. One window of the recording waits for its turn at a time: the next one
// waits when the previous one has been decoded. Workers read the recording when its turn has come.
class SpeechRequest final : public RequestState {
 public:
  // Throws as SpeechModel::transcribe() does for its options.
  SpeechRequest(const Model& model, std::shared_ptr<const WhisperFacts> facts, Recording recording,
                const TranscribeOptions& options, TranscribeHandlers handlers)
      : RequestState(model, [on_failure = std::move(handlers.on_failure)](
                                std::size_t, std::exception_ptr failure) { on_failure(std::move(failure)); }),
        facts_(std::move(facts)),
        task_(parts(), *facts_, options),
        recording_(std::move(recording)),
        handlers_(std::move(handlers)) {
    waiting.push_back(task_.any_window());
  }

  bool needs_preparation() const override { return true; }
  Prepared prepare(DecodeJob& job, Clock::time_point until) override {
    if (is_over()) return Prepared::over;
    try {
      if (!read(until)) return Prepared::unfinished;
      std::optional<DecodeJob> window = next();
      if (!window) {
        Transcript transcript = whole_ ? whole_->transcript() : transcriber_->transcript();
        pass_on(std::exchange(transcript.segments, {}));
        call([&] { handlers_.on_result(std::move(transcript)); });
        return Prepared::over;
      }
      window->client = std::move(job.client);
      job = *std::move(window);
      return Prepared::ready;
    } catch (...) {
      on_failure(job, std::current_exception());
      return Prepared::over;
    }
  }

  // A window has been decoded.
  void on_result(const DecodeJob& job, std::vector<Hypothesis> /*hypotheses*/) override {
    if (is_over()) return;
    try {
      std::vector<TranscriptSegment> segments = transcriber_->finish();
      if (whole_) {
        std::ranges::move(segments, std::back_inserter(segments_));
      } else {
        pass_on(segments);
      }
      if (!is_over()) wait_again(task_.any_window());
    } catch (...) {
      on_failure(job, std::current_exception());
    }
  }

 private:
  // Reads at least a piece of the recording, until the next window is complete or the time `until` has come; then
  // returns false.
  bool read(Clock::time_point until) {
    if (!transcriber_ && !open()) return true;
    while (!transcriber_->read()) {
      if (Clock::now() >= until) return false;
    }
    return true;
  }

  // Returns the next window; nullopt at the end of the recording.
  // REQUIRES: read() has returned true.
  std::optional<DecodeJob> next() {
    for (;;) {
      if (transcriber_) {
        if (std::optional<DecodeJob> window = transcriber_->next(); window || !whole_) return window;
        Transcript transcript = transcriber_->transcript();
        transcript.segments = std::exchange(segments_, {});
        whole_->add(chunk_, std::move(transcript));
      }
      if (!open()) return std::nullopt;
      while (!transcriber_->read()) {  // no time limit: a chunk is short
      }
    }
  }

  // Opens the recording or its next chunk. Returns false after the last chunk.
  bool open() {
    if (task_.options().chunk_length == 0) {
      transcriber_.emplace(task_, std::move(recording_));
      return true;
    }
    if (!whole_) whole_.emplace(task_, recording_);
    auto next = whole_->next();
    if (!next) return false;
    chunk_ = next->number;
    transcriber_.emplace(task_, std::move(next->recording));
    return true;
  }

  void pass_on(std::span<const TranscriptSegment> segments) {
    if (!segments.empty() && handlers_.on_segments) call([&] { handlers_.on_segments(segments); });
  }

  std::shared_ptr<const WhisperFacts> facts_;
  TranscriptionTask task_;
  Recording recording_;
  TranscribeHandlers handlers_;
  std::optional<ChunkedRecording> whole_;  // only if the recording is transcribed in chunks
  std::size_t chunk_ = 0;                  // number of the current chunk
  std::optional<RecordingTranscriber> transcriber_;
  std::vector<TranscriptSegment> segments_;  // segments of the current chunk
};

}  // namespace encdec
