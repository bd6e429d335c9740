#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "encdec/models/generation/generation_task.h"
#include "encdec/models/generation/not_a_number.h"
#include "encdec/models/model_impl.h"
#include "encdec/models/request_queue.h"
#include "encdec/models/transcription/chunked_recording.h"
#include "encdec/models/transcription/recording_transcriber.h"

namespace encdec {

// What was submitted: its sources that wait, and whom it tells what becomes of them.
struct Request::State final : DecodeClient, std::enable_shared_from_this<Request::State> {
  State(Model model_, const ModelParts& parts_) : model(std::move(model_)), parts(parts_) {}

  void on_result(const DecodeJob& job, std::vector<Hypothesis> hypotheses) override {
    if (speech) return on_window();
    tell(job, [&] {
      GenerateResult result =
          job.prompt.target.empty() ? GenerationTask::empty_result() : generation->result(job, std::move(hypotheses));
      generation->add_attention(result);
      return [this, &job, result = std::move(result)]() mutable { on_generated(job.index, std::move(result)); };
    });
  }

  // The last hidden states of a text.
  void on_hidden(const DecodeJob& job, const Tensor& hidden) {
    tell(job, [&] {
      EmbedResult result{.values = std::vector<float>(static_cast<std::size_t>(embedding->width())),
                         .source_tokens = job.prompt.source.size()};
      embedding->embed(hidden, result.values.data());
      return [this, &job, result = std::move(result)]() mutable { on_embedded(job.index, std::move(result)); };
    });
  }

  void on_failure(const DecodeJob& job, const std::exception_ptr& failure) override {
    call([&] { on_failed(job.index, explained(failure, parts)); });
  }

  void on_tokens(const DecodeJob& job, Search::ScoredTokens tokens) override {
    call([&] { on_certain(job.index, tokens.tokens, tokens.scores); });
  }
  void on_start(const DecodeJob& job) {
    if (!on_started) return;
    call([&] { on_started(job.index, generation ? job.prompt.source_tokens : job.prompt.source.size()); });
  }
  bool wants_tokens() const override { return on_certain != nullptr; }
  bool is_cancelled() const override { return is_over(); }
  // Whether its handlers are not to be called any more.
  bool is_over() const { return is_cancelled_ || (has_queue_stopped != nullptr && *has_queue_stopped); }
  void cancel() { is_cancelled_ = true; }

  const VocabularyShortlist* shortlist() const { return generation ? generation->shortlist() : nullptr; }

  Model model;
  ModelParts parts;
  // One of both, and what it tells.
  std::optional<GenerationTask> generation;
  std::function<void(std::size_t, GenerateResult)> on_generated;
  decltype(GenerateHandlers::on_tokens) on_certain;
  std::optional<EmbeddingTask> embedding;
  std::function<void(std::size_t, EmbedResult)> on_embedded;

  using Clock = std::chrono::steady_clock;

  // A recording, window by window; it is read when its turn has come.
  struct Speech {
    Speech(const ModelParts& parts, const WhisperFacts& facts, const TranscribeOptions& options)
        : task(parts, facts, options) {}

    TranscriptionTask task;
    Recording recording = {};
    TranscribeHandlers handlers = {};
    std::optional<ChunkedRecording> whole = {};  // where it is cut; then of one chunk at a time
    std::size_t chunk = 0;
    std::optional<RecordingTranscriber> transcriber = {};
    std::vector<TranscriptSegment> segments = {};  // of the chunk

    // Reads on, a piece of the recording at least, until the next window is there, or the time `until`: then returns
    // false.
    bool read(Clock::time_point until) {
      if (!transcriber && !open()) return true;
      while (!transcriber->read()) {
        if (Clock::now() >= until) return false;
      }
      return true;
    }

    // The next window; nullopt at the end. REQUIRES: read() has returned true.
    std::optional<DecodeJob> next() {
      for (;;) {
        if (transcriber) {
          if (std::optional<DecodeJob> window = transcriber->next(); window || !whole) return window;
          Transcript transcript = transcriber->transcript();
          transcript.segments = std::exchange(segments, {});
          whole->add(chunk, std::move(transcript));
        }
        if (!open()) return std::nullopt;
        while (!transcriber->read()) {  // a chunk is short
        }
      }
    }

   private:
    // Opens the recording, or its next chunk; false where there is none.
    bool open() {
      if (task.options().chunk_length == 0) {
        transcriber.emplace(task, std::move(recording));
        return true;
      }
      if (!whole) whole.emplace(task, recording);
      auto next = whole->next();
      if (!next) return false;
      chunk = next->number;
      transcriber.emplace(task, std::move(next->recording));
      return true;
    }
  };
  std::optional<Speech> speech;
  std::function<void(std::shared_ptr<State>)> go_on;  // has it wait for its next turn

  void transcribe(const WhisperFacts& facts, Recording recording, const TranscribeOptions& options,
                  TranscribeHandlers handlers) {
    speech.emplace(parts, facts, options);
    speech->recording = std::move(recording);
    on_failed = [tell = handlers.on_failure](std::size_t, std::exception_ptr failure) { tell(std::move(failure)); };
    speech->handlers = std::move(handlers);
  }
  // A window that is not known yet.
  DecodeJob window() const { return speech->task.any_window(); }
  // Finds out what a job of a recording is to decode. `over`: nothing, since the request is over or has its result or
  // failure. `unfinished`: reading takes longer than `until`, so it must wait for another turn.
  enum class Prepared : std::uint8_t { ready, over, unfinished };
  Prepared prepare(DecodeJob& job, Clock::time_point until) {
    if (is_over()) return Prepared::over;
    try {
      if (!speech->read(until)) return Prepared::unfinished;
      std::optional<DecodeJob> window = speech->next();
      if (!window) {
        Transcript transcript = speech->whole ? speech->whole->transcript() : speech->transcriber->transcript();
        tell(std::exchange(transcript.segments, {}));
        call([&] { speech->handlers.on_result(std::move(transcript)); });
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
  void wait_again() {
    try {
      go_on(shared_from_this());
    } catch (...) {
      on_failure({}, std::current_exception());
    }
  }

  std::function<void(std::size_t, std::size_t)> on_started;
  std::function<void(std::size_t, std::exception_ptr)> on_failed;
  std::shared_ptr<const std::atomic<bool>> has_queue_stopped;  // set by the queue; null before
  std::deque<DecodeJob> waiting;                               // the queue's

 private:
  void tell(std::span<const TranscriptSegment> segments) {
    if (!segments.empty() && speech->handlers.on_segments) call([&] { speech->handlers.on_segments(segments); });
  }
  void on_window() {
    if (is_over()) return;
    try {
      std::vector<TranscriptSegment> segments = speech->transcriber->finish();
      if (speech->whole) {
        std::ranges::move(segments, std::back_inserter(speech->segments));
      } else {
        tell(segments);
      }
      if (!is_over()) go_on(shared_from_this());
    } catch (...) {
      on_failure({}, std::current_exception());
    }
  }

  // Calls what `complete` gives, a handler with a result; where there is none, that of failures.
  template <class Complete>
  void tell(const DecodeJob& job, const Complete& complete) {
    if (is_over()) return;
    try {
      auto handler = complete();
      call(handler);
    } catch (...) {
      on_failure(job, std::current_exception());
    }
  }

  // Calls a handler, unless the request is over.
  template <class Handler>
  void call(Handler&& handler) {
    if (is_over()) return;
    try {
      handler();
    } catch (...) {
      cancel();
    }
  }

  std::atomic<bool> is_cancelled_ = false;
};

}  // namespace encdec
