#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "encdec/models/generation/decode_feed.h"
#include "encdec/models/generation/not_a_number.h"
#include "encdec/models/model/request_queue.h"

namespace encdec {

// A submitted request, as seen by its queue. Each kind of request is a derived class, which turns
// inputs into jobs, and results of jobs into calls of its handlers.
class RequestState : public DecodeClient, public std::enable_shared_from_this<RequestState> {
 public:
  using Clock = std::chrono::steady_clock;
  using FailureHandler = std::function<void(std::size_t source, std::exception_ptr failure)>;
  using StartHandler = std::function<void(std::size_t source, std::size_t source_tokens)>;

  RequestState(Model model, FailureHandler on_failure, StartHandler on_start = {})
      : model_(std::move(model)),
        parts_(model_.parts()),
        on_failure_(std::move(on_failure)),
        on_start_(std::move(on_start)) {}

  void on_failure(const DecodeJob& job, const std::exception_ptr& failure) override {
    call([&] { on_failure_(job.index, explained(failure, parts_)); });
  }
  void on_result(const DecodeJob& /*job*/, std::vector<Hypothesis> /*hypotheses*/) override {}
  void on_tokens(const DecodeJob& /*job*/, Search::ScoredTokens /*tokens*/) override {}
  bool wants_tokens() const override { return false; }
  bool is_cancelled() const override { return is_over(); }

  // Called when a worker has taken a job of this request.
  void on_start(const DecodeJob& job) {
    if (on_start_) call([&] { on_start_(job.index, job.prompt.source_tokens); });
  }
  // Receives the rows computed for job number `job` of a batch, which are valid during the call.
  using Take = std::function<void(std::size_t job, const Tensor& rows)>;
  // Computes a batch of jobs without a decoder, and calls `take` for each job.
  using Compute = void (*)(Session& session, std::span<const DecodeJob> jobs, const Take& take);
  // Returns the function for a model without a decoder. Jobs with equal functions share batches.
  virtual Compute compute() const { return nullptr; }
  // Receives a job's rows from compute(); replaces on_result().
  virtual void on_rows(const DecodeJob& /*job*/, const Tensor& /*rows*/) {}
  // Returns whether a job's result has no tokens, so that there is nothing to decode.
  virtual bool is_empty(const DecodeJob& /*job*/) const { return false; }

  // Returns whether workers must call prepare() for each job before they decode it.
  virtual bool needs_preparation() const { return false; }
  enum class Prepared : std::uint8_t {
    ready,       // the job can be decoded
    over,        // nothing to decode: the request is over, or the job has its result or failure
    unfinished,  // preparation takes longer than `until`; the job must wait for another turn
  };
  // Replaces a job that was a placeholder in the queue by a job that can be decoded.
  virtual Prepared prepare(DecodeJob& /*job*/, Clock::time_point /*until*/) { return Prepared::ready; }

  // Returns whether handlers must no longer be called.
  bool is_over() const { return is_cancelled_ || (has_queue_stopped != nullptr && *has_queue_stopped); }
  void cancel() { is_cancelled_ = true; }

  // Adds jobs to the queue. REQUIRES: the request has been submitted, and its queue still exists or the caller is one
  // of the queue's workers.
  void enqueue(std::vector<DecodeJob> jobs) {
    try {
      add_to_queue(shared_from_this(), std::move(jobs));
    } catch (...) {
      on_failure({}, std::current_exception());
    }
  }
  void enqueue(DecodeJob job) {
    std::vector<DecodeJob> jobs;
    jobs.push_back(std::move(job));
    enqueue(std::move(jobs));
  }

  // If true, the request starts only while a worker is otherwise idle. Set before the request is submitted.
  bool yields = false;

  // Set and used by the queue.
  std::deque<DecodeJob> waiting;  // guarded by the queue's mutex
  std::function<void(std::shared_ptr<RequestState>, std::vector<DecodeJob>)> add_to_queue;
  std::shared_ptr<const std::atomic<bool>> has_queue_stopped;  // null before the request is submitted

 protected:
  const ModelParts& parts() const { return parts_; }

  // Calls a handler unless the request is over. An exception from the handler cancels the request.
  template <class Handler>
  void call(Handler&& handler) {
    if (is_over()) return;
    try {
      handler();
    } catch (...) {
      cancel();
    }
  }

  // Calls on_result with the result of make(). If make() throws, the job fails.
  template <class OnResult, class Make>
  void complete(const DecodeJob& job, const OnResult& on_result, const Make& make) {
    if (is_over()) return;
    try {
      auto result = make();
      call([&] { on_result(job.index, std::move(result)); });
    } catch (...) {
      on_failure(job, std::current_exception());
    }
  }

 private:
  Model model_;
  ModelParts parts_;
  FailureHandler on_failure_;
  StartHandler on_start_;
  std::atomic<bool> is_cancelled_ = false;
};

}  // namespace encdec
