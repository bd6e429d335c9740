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

// Options of RequestQueue. Results do not depend on them.
struct RequestQueueOptions {
  int workers = 1;     // batches decoded at the same time, each with LoadOptions::threads threads
  int batch_size = 0;  // maximum sequences in a worker's batch; 0: the memory and CPU decide
  // Maximum time between two steps in which a worker prepares sources, such as the next seconds of recordings. A
  // greater time makes fuller batches; the sources that are being decoded wait meanwhile.
  std::chrono::nanoseconds preparation_time = std::chrono::milliseconds(10);

  // Callbacks. Workers' threads call them, one call at a time. An exception fails the sources in the worker's batch.

  // Called after each step of a worker's decoder, with the totals of all workers.
  std::function<void(const GenerateProgress&)> on_progress = {};
  // Called after each run of a node of the model's graphs, with its start and end time.
  NodeRunObserver on_node_run = {};
};

// Callbacks of one request. `source` is the index in the inputs or texts given to submit(). REQUIRES: on_result and
// on_failure are set.
//
// For one source the order of calls is on_start on_tokens* on_result. A source may fail at any point; on_failure is
// then its last call.
// - A callback runs on a worker's thread, and delays the other sources of that worker until it returns.
// - Callbacks for different sources may run at the same time if the queue has several workers.
// - A callback may call submit(), status() and cancel(). It must not destroy the queue.
// - An exception from a callback cancels the request.
template <class Result>
struct Handlers {
  // Called with the result of a source.
  std::function<void(std::size_t source, Result result)> on_result;
  // Called if a source fails. Other sources go on. If a whole step fails (out of memory, say), all sources in the batch
  // fail. The waiting sources of the request whose source was first in the batch fail too.
  std::function<void(std::size_t source, std::exception_ptr failure)> on_failure;
  // For generation: called with the next tokens of the result as soon as they are final; see GenerateOptions::on_token.
  // They begin with the tokens of the prefix, if there is one. `token_scores` are the tokens' Hypothesis::token_scores.
  // Optional.
  std::function<void(std::size_t source, std::span<const std::int32_t> tokens, std::span<const float> token_scores)>
      on_tokens = {};
  // Called when a worker has taken the source. `source_tokens` is the number of its tokens. Optional.
  std::function<void(std::size_t source, std::size_t source_tokens)> on_start = {};
};
using GenerateHandlers = Handlers<GenerateResult>;

// A snapshot of what a queue is doing, for monitoring.
struct QueueStatus {
  std::size_t waiting = 0;         // sources that no worker has taken yet
  std::uint64_t steps = 0;         // decoder steps, and encoder passes over texts, since the start
  std::uint64_t rows = 0;          // sequences in all these steps; a source with 4 beams counts 4 in each of its steps
  std::uint64_t draft_tokens = 0;  // guessed tokens that were checked
  std::uint64_t accepted_tokens = 0;  // number of these that were right
  // Time since the quietest busy worker last reported; 0 if no worker is busy. A worker reports at each cancellation
  // check, normally at least every 100 ms (see CancellationScope).
  std::chrono::duration<double> silence{0};
};

struct DecodeJob;
class RequestState;

// A handle to a submitted request. Copies refer to the same request and may outlive the queue. Destroying a handle does
// not cancel the request.
class Request {
 public:
  Request() = default;  // refers to no request

  // Drops the request's sources that have no result yet. A source that is being decoded leaves its batch after the
  // current step. Results of other requests do not change.
  // Does not wait: a callback that a worker has begun to call still runs to its end. No other callback is called. May
  // be called more than once, and by callbacks.
  void cancel() const;

 private:
  friend class RequestQueue;
  explicit Request(std::shared_ptr<RequestState> state) : state_(std::move(state)) {}
  std::shared_ptr<RequestState> state_;
};

// A queue through which many callers share one model. Each caller submits sources; its callbacks get each result as
// soon as that source is finished.
//
// Workers decode the sources of all requests together, even if the requests' options differ (continuous batching, Yu et
// al. 2022). A finished source leaves the batch, and a waiting source takes its place at the next step. A source's
// result is the same, bit by bit, as without other sources.
//
// Turns: the queue takes one source from each waiting request in turn, oldest request first, so a large request does
// not delay a small one. Requests with the same `client` number share that client's turn and use it alternately.
// Example: request A has 1000 sources, then B and C arrive with 2 sources each, before a worker has taken any.
// - without clients, the order is A1 B1 C1 A2 B2 C2 A3 A4 A5 ...
// - if A and B name client 1 and C names client 2, it is A1 C1 B1 C2 A2 B2 A3 A4 A5 ...
// A request that yields (see SpeechModel::submit()) starts only while a worker has nothing else to do.
//
// All functions may be called from many threads at once. A forked child process begins with an empty queue.
class RequestQueue {
 public:
  // Creates an empty queue. Threads start at the first submit(). Throws ConfigError if an option is out of range.
  explicit RequestQueue(Model model, const RequestQueueOptions& options = {});
  // Cancels all requests and waits for the workers. REQUIRES: the caller is not a callback of this queue.
  ~RequestQueue();
  RequestQueue(const RequestQueue&) = delete;
  RequestQueue& operator=(const RequestQueue&) = delete;

  // Submits inputs for generation. Tokenizes them in the caller's thread, adds them to the queue and returns without
  // waiting for a result. `client` is any number that identifies the caller when turns are taken; with 0 the request
  // has a turn of its own.
  // Ignores `batch_size`, `workers` and the callbacks in `options`.
  // Throws as Model::generate() does if any input or option is bad; ConfigError if handlers.on_tokens is set and more
  // than one sequence is to be returned; ResourceError if the worker threads cannot be started. Then nothing has been
  // submitted.
  Request submit(std::span<const GenerateInput> inputs, const GenerateOptions& options, GenerateHandlers handlers,
                 std::uint64_t client = 0);
  // Submits a request of any kind with its first jobs; see RequestState. Embedder, Classifier and SpeechModel submit
  // theirs so.
  Request submit(std::shared_ptr<RequestState> request, std::vector<DecodeJob> jobs, std::uint64_t client = 0);

  // Returns the current counts. Never waits, whatever the workers are doing.
  QueueStatus status() const;

 private:
  class Workers;
  Workers& workers();

  Model model_;
  RequestQueueOptions options_;
  PerProcess<Workers> workers_;
};

}  // namespace encdec
