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
  int workers = 1;     // number of batches decoded at the same time, each with LoadOptions::threads threads
  int batch_size = 0;  // maximum number of sequences in a worker's batch; 0: chosen by memory and CPU
  // Maximum time that a worker spends between two steps on preparing sources, such as the next
  // seconds of recordings. More time fills batches better, but delays sources being decoded.
  std::chrono::nanoseconds preparation_time = std::chrono::milliseconds(10);

  // Callbacks on workers' threads, one call at a time. If a callback throws, the worker's batch fails.

  // Called after each step of a worker's decoder, with the totals of all workers.
  std::function<void(const GenerateProgress&)> on_progress = {};
  // Called after each run of a graph node, with its start and end time.
  NodeRunObserver on_node_run = {};
};

// Callbacks of one request. `source` is the index of the input or text in the call of submit().
// REQUIRES: on_result and on_failure are set.
//
// Order of calls for one source: on_start on_tokens* on_result; on_failure may end this order at any point.
// - A callback runs on a worker's thread, and delays that worker's other sources until the callback returns.
// - If the queue has several workers, callbacks for different sources may run at the same time.
// - A callback may call submit(), status() and cancel(). It must not destroy the queue.
// - An exception from a callback cancels the request.
template <class Result>
struct Handlers {
  std::function<void(std::size_t source, Result result)> on_result;
  // Called if a source fails. Other sources continue, unless a whole step fails, for example
  // because memory runs out. Then all sources in the batch fail, and also the waiting sources of one request: the
  // request whose turn was next when the worker was last idle.
  std::function<void(std::size_t source, std::exception_ptr failure)> on_failure;
  // For generation: called with the next tokens of the result, prefix included, as soon as they are
  // final (see GenerateOptions::on_token), and with their Hypothesis::token_scores. Optional.
  std::function<void(std::size_t source, std::span<const std::int32_t> tokens, std::span<const float> token_scores)>
      on_tokens = {};
  // Called when a worker has taken the source, with its number of tokens. Optional.
  std::function<void(std::size_t source, std::size_t source_tokens)> on_start = {};
};
using GenerateHandlers = Handlers<GenerateResult>;

// A snapshot of a queue's counts, for monitoring.
struct QueueStatus {
  std::size_t waiting = 0;         // sources that no worker has taken yet
  std::uint64_t steps = 0;         // decoder steps, and batches of models without a decoder
  std::uint64_t rows = 0;          // sequences, summed over all steps; each beam counts
  std::uint64_t draft_tokens = 0;  // draft tokens that were verified
  std::uint64_t accepted_tokens = 0;
  // Longest time since a busy worker's last progress report; 0 if no worker is busy. Workers report
  // at each cancellation check, normally at least every 100 ms (see CancellationScope).
  std::chrono::duration<double> silence{0};
};

struct DecodeJob;
class RequestState;

// A handle to a submitted request. Copies refer to the same request and may outlive the queue.
// Destroying a handle does not cancel the request.
class Request {
 public:
  Request() = default;  // refers to no request

  // Drops the sources that have no result yet. A source that is being decoded leaves its batch
  // after the current step. Results of other requests do not change.
  // Does not wait: a running callback completes, but no other callback is called. May be called repeatedly.
  void cancel() const;

 private:
  friend class RequestQueue;
  explicit Request(std::shared_ptr<RequestState> state) : state_(std::move(state)) {}
  std::shared_ptr<RequestState> state_;
};

// A queue through which many callers share one model. Each caller submits sources; its callbacks
// receive each result as soon as it is finished.
//
// Workers decode the sources of all requests together, even if the requests' options differ
// (continuous batching, Yu et al. 2022). A finished source leaves the batch, and a waiting source
// replaces it at the next step. Results are bitwise identical with and without other sources.
//
// Turns: the queue takes one source from each waiting request in turn, oldest request first, so a
// large request does not delay a small one. Requests with the same `client` number share one turn
// and use it alternately.
// Example: A has 1000 sources. B and C arrive with 2 sources each, before a worker has taken any.
// - without clients, the order is A1 B1 C1 A2 B2 C2 A3 A4 A5 ...
// - if A and B name client 1 and C names client 2, the order is A1 C1 B1 C2 A2 B2 A3 A4 A5 ...
// A request that yields (see SpeechModel::submit()) starts only while a worker has nothing else to do.
//
// Thread-safe. A forked child process begins with an empty queue.
class RequestQueue {
 public:
  // Creates an empty queue. Threads start at the first submit(). Throws ConfigError if an option is out of range.
  explicit RequestQueue(Model model, const RequestQueueOptions& options = {});
  // Cancels all requests and waits for the workers. REQUIRES: the caller is not a callback of this queue.
  ~RequestQueue();
  RequestQueue(const RequestQueue&) = delete;
  RequestQueue& operator=(const RequestQueue&) = delete;

  // Submits inputs for generation: tokenizes them in the caller's thread, adds them to the queue
  // and returns without waiting for a result. `client` is any number that identifies the caller for
  // turns; with 0 the request has its own turn. Ignores `batch_size`, `workers` and the callbacks
  // in `options`. Throws the following; then nothing has been submitted:
  // - the errors of Model::generate() if any input or option is invalid;
  // - ConfigError if handlers.on_tokens is set and num_return_sequences is above 1;
  // - ResourceError if worker threads cannot be started.
  Request submit(std::span<const GenerateInput> inputs, const GenerateOptions& options, GenerateHandlers handlers,
                 std::uint64_t client = 0);
  // Submits a request of any kind with its first jobs; see RequestState.
  Request submit(std::shared_ptr<RequestState> request, std::vector<DecodeJob> jobs, std::uint64_t client = 0);

  // Returns the current counts. Never blocks.
  QueueStatus status() const;

 private:
  class Workers;
  Workers& workers();

  Model model_;
  RequestQueueOptions options_;
  PerProcess<Workers> workers_;
};

}  // namespace encdec
