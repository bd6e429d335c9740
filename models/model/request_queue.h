#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "encdec/engine/base/per_process.h"
#include "encdec/models/model/model.h"

namespace encdec {

// How a queue works; results do not depend on it.
struct RequestQueueOptions {
  int workers = 1;     // batches side by side, each with LoadOptions::threads threads
  int batch_size = 0;  // sequences that a worker decodes at once; 0 for what fits memory and CPU
};

// Whom a request tells what becomes of its sources, each known by its place in it. A worker's thread calls, so others
// wait meanwhile; with several workers more than one may at once. What a handler throws cancels the request.
struct GenerateHandlers {
  // As it is finished.
  std::function<void(std::size_t source, GenerateResult result)> on_result;
  // Instead of a result.
  std::function<void(std::size_t source, std::exception_ptr failure)> on_failure;
  // Before it: tokens of the result, its prefix too, as soon as they are certain, and of each what will be its
  // Hypothesis::token_scores; none if empty. See GenerateOptions::on_token.
  std::function<void(std::size_t source, std::span<const std::int32_t> tokens, std::span<const float> token_scores)>
      on_tokens = {};
  // When its turn has come, with what will be its GenerateResult::source_tokens.
  std::function<void(std::size_t source, std::size_t source_tokens)> on_start = {};
};

// A text's vector, and what it cost.
struct EmbedResult {
  std::vector<float> values;      // [D]
  std::size_t source_tokens = 0;  // that were read, special ones included
};

// As GenerateHandlers.
struct EmbedHandlers {
  std::function<void(std::size_t text, EmbedResult result)> on_result;             // as it is finished
  std::function<void(std::size_t text, std::exception_ptr failure)> on_failure;    // instead of a result
  std::function<void(std::size_t text, std::size_t source_tokens)> on_start = {};  // when its turn has come
};

// What a queue does, for those who watch it.
struct QueueStatus {
  std::size_t waiting = 0;  // sources whose turn has not come
  std::uint64_t steps = 0;  // of decoders, and passes over texts, since it began
  std::uint64_t rows = 0;   // sequences in all of these: a source's beams each
  // Since a busy worker's last sign of life, of the one that is silent longest: work gives one every 100 ms, as far as
  // it can be cancelled; see CancellationScope. 0 where all wait for work.
  std::chrono::duration<double> silence{0};
};

class RequestState;

// What was submitted; see RequestQueue. Copies stand for the same request, and may outlive the queue.
class Request {
 public:
  Request() = default;  // of nothing

  // Its sources are dropped, those that wait and, between two steps, those that run; others' results do not change.
  // Handlers that are being called come to their end, none is called any more. May be called again, also by handlers.
  void cancel() const;

 private:
  friend class RequestQueue;
  explicit Request(std::shared_ptr<RequestState> state) : state_(std::move(state)) {}
  std::shared_ptr<RequestState> state_;
};

// Many callers share one model: each submits sources, and its handlers get their results as they are finished. Sources
// of all requests are decoded together, whatever the rules of each (continuous batching, Yu et al. 2022): one that is
// finished leaves the batch, and one that waits takes its place at the next step. Requests take turns in order of
// arrival, a source each, so none waits for another's thousand; where they name a client, clients take turns, and each
// one's requests among themselves. Those with a shortlist are decoded apart.
//
// A source's result is the same, bit by bit, as alone. All functions may be called from many threads at once, and in a
// forked process, which begins with an empty queue.
class RequestQueue {
 public:
  // Starts threads at the first request. Throws ConfigError for options out of range.
  explicit RequestQueue(Model model, const RequestQueueOptions& options = {});
  // Cancels all requests, and waits for the workers.
  ~RequestQueue();
  RequestQueue(const RequestQueue&) = delete;
  RequestQueue& operator=(const RequestQueue&) = delete;

  // Reads the inputs, in the caller's thread, and has them wait for their turn. Of the options all counts but
  // batch_size, workers and the callbacks. Throws as Model::generate() does, for any input, and then nothing is
  // submitted. `client` is any number for who asks; 0: a client of its own.
  Request submit(std::span<const GenerateInput> inputs, const GenerateOptions& options, GenerateHandlers handlers,
                 std::uint64_t client = 0);
  // Texts whose vectors are wanted: texts of many requests are read in one pass. Throws as Model::embed() does.
  Request submit(std::span<const std::string> texts, const EmbedOptions& options, EmbedHandlers handlers,
                 std::uint64_t client = 0);

  // A request of any kind; see RequestState.
  Request submit(std::shared_ptr<RequestState> request, std::uint64_t client = 0);

  // Waits for nobody, whatever the workers do.
  QueueStatus status() const;

 private:
  struct Workers;
  Workers& workers();

  Model model_;
  RequestQueueOptions options_;
  PerProcess<Workers> workers_;
};

}  // namespace encdec
