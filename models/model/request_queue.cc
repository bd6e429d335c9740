#include "encdec/models/model/request_queue.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <thread>
#include <utility>

#include "encdec/engine/base/cancellation.h"
#include "encdec/engine/base/mutex.h"
#include "encdec/engine/thread_team.h"
#include "encdec/models/generation/batch_decoder.h"
#include "encdec/models/model/generate_request.h"
#include "encdec/models/model/request_turns.h"

namespace encdec {

void Request::cancel() const {
  if (state_ != nullptr) state_->cancel();
}

// The waiting requests of a queue, and its worker threads.
class RequestQueue::Workers {
 public:
  Workers(const Model& model, const RequestQueueOptions& options)
      : parts_(model.parts()), options_(options), workers_(static_cast<std::size_t>(options.workers)) {
    try {
      for (int number = 1; number <= options.workers; ++number) {
        Worker& worker = workers_[static_cast<std::size_t>(number) - 1];
        threads_.push_back(start_thread(number, options.workers, [this, &worker] { work(worker); }));
      }
    } catch (...) {
      stop();
      throw;
    }
  }
  ~Workers() { stop(); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  void add(std::shared_ptr<RequestState> request, std::vector<DecodeJob> jobs, std::uint64_t client) {
    const std::size_t count = jobs.size();
    {
      const MutexLock lock(mutex_);
      turns_.add(std::move(request), std::move(jobs), client);
    }
    count == 1 ? arrived_.notify_one() : arrived_.notify_all();
  }
  const std::shared_ptr<std::atomic<bool>>& has_stopped() const { return has_stopped_; }

  QueueStatus status() const ENCDEC_ANNOTATION(no_thread_safety_analysis) {  // job_count() is thread-safe
    QueueStatus status{.waiting = turns_.job_count(),
                       .steps = steps_,
                       .rows = rows_,
                       .draft_tokens = draft_tokens_,
                       .accepted_tokens = accepted_tokens_};
    const Clock::rep now = Clock::now().time_since_epoch().count();
    for (const Worker& worker : workers_) {
      const Clock::rep since = worker.last_report;
      if (since != kIdle)
        status.silence = std::max<std::chrono::duration<double>>(status.silence, Clock::duration(now - since));
    }
    return status;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr Clock::rep kIdle = 0;

  struct Worker {
    std::atomic<Clock::rep> last_report = kIdle;  // time of the last report; kIdle if the worker is idle
    GenerateProgress progress = {};               // written by the worker while it holds callback_mutex_
  };

  // Feeds one busy worker with the sources of all requests.
  class WorkerFeed final : public DecodeFeed {
   public:
    explicit WorkerFeed(Workers& workers) : workers_(workers) {}
    // Preparation of sources delays the sources that are being decoded. So preparation takes at most preparation_time
    // per call. In a busy worker it also takes at most the time since the previous call.
    void take(Capacity capacity, std::vector<DecodeJob>& jobs) override {
      const Clock::time_point now = Clock::now();
      const Clock::duration allowed = workers_.options_.preparation_time;
      const Clock::duration time = capacity.is_idle ? allowed : std::min(allowed, now - taken_at_);
      workers_.take(capacity, now + time, jobs);
      taken_at_ = Clock::now();
    }
    bool has_stopped() override { return *workers_.has_stopped_; }

   private:
    Workers& workers_;
    Clock::time_point taken_at_ = Clock::now();
  };

  // A worker's cancellation check throws Stopped when the queue is being destroyed. No callback receives Stopped.
  struct Stopped {};

  // Serves requests until the queue is destroyed.
  void work(Worker& worker) {
    const std::function<void()> report_alive = [&] {
      worker.last_report = Clock::now().time_since_epoch().count();
      if (*has_stopped_) throw Stopped();
    };
    // Each repetition is a busy period, which ends when no source is left.
    while (const std::shared_ptr<RequestState> request = wait_for_request()) {
      const CancellationScope scope(report_alive);
      try {
        report_alive();
        SessionPool::Lease session(parts_.sessions);
        if (options_.on_node_run) {
          session->set_run_observer([this](const NodeRun& run) {
            const MutexLock lock(callback_mutex_);
            options_.on_node_run(run);
          });
        }
        WorkerFeed feed(*this);
        if (parts_.network.config.has_decoder()) {
          decode(feed, *session, worker);
        } else {
          compute(feed, *session);
        }
      } catch (...) {
        // The failures of taken sources have been reported. Report the failure for the request's waiting sources too,
        // because they would probably fail in the same way.
        fail(*request, std::current_exception());
      }
      worker.last_report = kIdle;
    }
  }

  // Waits for a request. Returns the request whose turn is next, or null if the queue is being destroyed.
  std::shared_ptr<RequestState> wait_for_request() {
    const MutexLock lock(mutex_);
    ++idle_;
    while (!*has_stopped_ && turns_.empty()) arrived_.wait(mutex_);
    --idle_;
    return *has_stopped_ ? nullptr : turns_.first();
  }

  // Takes the jobs that start next, and prepares them until `prepare_until`. Jobs that need more time are queued again.
  // Jobs with nothing to decode are removed after their empty result is reported.
  void take(DecodeFeed::Capacity capacity, Clock::time_point prepare_until, std::vector<DecodeJob>& jobs) {
    jobs.clear();
    {
      const MutexLock lock(mutex_);
      turns_.take(capacity, idle_, jobs);
    }
    for (const DecodeJob& job : jobs) request_of(job).on_start(job);
    std::erase_if(jobs, [](const DecodeJob& job) {
      const bool is_empty = request_of(job).is_empty(job);
      if (is_empty) job.client->on_result(job, {});
      return is_empty;
    });
    prepare(prepare_until, jobs);
  }

  static RequestState& request_of(const DecodeJob& job) { return static_cast<RequestState&>(*job.client); }

  // Prepares the jobs that need preparation, one after the other. Prepares at least one job, and starts further
  // preparations only before `until`. Removes jobs that cannot be decoded yet, and queues them again. Jobs for which no
  // time was left are queued first, so that they are tried first in the next turn.
  static void prepare(Clock::time_point until, std::vector<DecodeJob>& jobs) {
    std::vector<DecodeJob> late, unfinished;
    bool has_prepared = false;
    std::erase_if(jobs, [&](DecodeJob& job) {
      if (!request_of(job).needs_preparation()) return false;
      if (std::exchange(has_prepared, true) && Clock::now() >= until) {
        late.push_back(std::move(job));
        return true;
      }
      // Keep the request alive: prepare() may drop the job's reference to the request.
      const auto request = std::static_pointer_cast<RequestState>(job.client);
      const RequestState::Prepared prepared = request->prepare(job, until);
      if (prepared == RequestState::Prepared::unfinished) unfinished.push_back(std::move(job));
      return prepared != RequestState::Prepared::ready;
    });
    for (std::vector<DecodeJob>* again : {&late, &unfinished}) {
      for (DecodeJob& job : *again) {
        const auto request = std::static_pointer_cast<RequestState>(std::exchange(job.client, nullptr));
        request->enqueue(std::move(job));
      }
    }
  }

  // Decodes sources of all requests.
  void decode(WorkerFeed& feed, Session& session, Worker& worker) {
    const auto rows = static_cast<std::size_t>(options_.batch_size);
    const BatchLimits limits = choose_batch_limits(parts_.network, rows, options_.workers);
    const GenerateProgress before = worker.progress;  // only this thread writes it
    DraftCounts counted;
    decode_batches(feed,
                   {.session = session, .limits = limits, .on_step = [&](GenerateProgress done, std::size_t step_rows) {
                      // `done` counts from the start of this call. `counted` has the previous value of `done.drafts`.
                      rows_ += step_rows;
                      ++steps_;
                      draft_tokens_ += done.drafts.proposed - counted.proposed;
                      accepted_tokens_ += done.drafts.accepted - counted.accepted;
                      counted = done.drafts;
                      if (!options_.on_progress) return;
                      const MutexLock lock(callback_mutex_);
                      worker.progress = done += before;
                      GenerateProgress total;
                      for (const Worker& each : workers_) total += each.progress;
                      options_.on_progress(total);
                    }});
  }

  // Computes sources of all requests in a model without a decoder, in large batches.
  void compute(WorkerFeed& feed, Session& session) {
    constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max();
    const std::size_t rows = options_.batch_size > 0 ? static_cast<std::size_t>(options_.batch_size) : kAny;
    std::vector<DecodeJob> jobs;
    while (!*has_stopped_) {
      feed.take({.rows = rows, .bytes = kAny, .tokens = kTokensPerBatch, .is_idle = true}, jobs);
      if (jobs.empty()) return;
      try {
        compute(jobs, session);
        rows_ += jobs.size();
        ++steps_;
      } catch (...) {
        for (const DecodeJob& job : jobs) {
          if (job.client != nullptr) job.client->on_failure(job, std::current_exception());
        }
        throw;
      }
    }
  }

  // Computes jobs together if they have the same compute() function. Resets the client of each job that has a result.
  static void compute(std::span<DecodeJob> jobs, Session& session) {
    while (!jobs.empty()) {
      const RequestState::Compute compute = request_of(jobs.front()).compute();
      const auto others = std::ranges::stable_partition(
          jobs, [&](const DecodeJob& job) { return request_of(job).compute() == compute; });
      const auto batch = jobs.first(jobs.size() - others.size());
      compute(session, batch, [&](std::size_t job, const Tensor& rows) {
        request_of(batch[job]).on_rows(batch[job], rows);
        batch[job].client.reset();
      });
      jobs = jobs.last(others.size());
    }
  }

  // Reports `failure` for the waiting sources of a request.
  void fail(RequestState& request, const std::exception_ptr& failure) {
    std::deque<DecodeJob> jobs;
    {
      const MutexLock lock(mutex_);
      jobs = turns_.remove(request);
    }
    for (const DecodeJob& job : jobs) request.on_failure(job, failure);
  }

  void stop() {
    {
      const MutexLock lock(mutex_);
      *has_stopped_ = true;
    }
    arrived_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  ModelParts parts_;
  RequestQueueOptions options_;
  const std::shared_ptr<std::atomic<bool>> has_stopped_ = std::make_shared<std::atomic<bool>>(false);
  Mutex mutex_;
  Condition arrived_;
  RequestTurns turns_ ENCDEC_GUARDED_BY(mutex_);
  std::size_t idle_ ENCDEC_GUARDED_BY(mutex_) = 0;  // number of idle workers
  std::atomic<std::uint64_t> steps_ = 0, rows_ = 0, draft_tokens_ = 0, accepted_tokens_ = 0;
  Mutex callback_mutex_;  // held during callbacks of options_
  std::vector<Worker> workers_;
  std::vector<std::thread> threads_;
};

RequestQueue::RequestQueue(Model model, const RequestQueueOptions& options)
    : model_(std::move(model)), options_(options) {
  check_batching(options.batch_size, options.workers);
}

RequestQueue::~RequestQueue() = default;

RequestQueue::Workers& RequestQueue::workers() {
  return workers_.get([this] { return std::make_unique<Workers>(model_, options_); });
}

QueueStatus RequestQueue::status() const {
  const Workers* workers = workers_.find();
  return workers != nullptr ? workers->status() : QueueStatus();
}

Request RequestQueue::submit(std::span<const GenerateInput> inputs, const GenerateOptions& options,
                             GenerateHandlers handlers, std::uint64_t client) {
  // The queue's own options replace the options of the call.
  GenerateOptions asked = options;
  asked.batch_size = options_.batch_size;
  asked.workers = options_.workers;
  asked.on_token = nullptr;
  // With on_token set, GenerationTask checks that tokens can be reported one by one.
  if (handlers.on_tokens) asked.on_token = [](std::size_t, std::int32_t) {};
  const auto request = std::make_shared<GenerateRequest>(model_, asked, std::move(handlers));
  std::vector<DecodeJob> jobs;
  for (const GenerateInput& input : inputs) jobs.push_back(request->task().job(input, jobs.size()));
  return submit(request, std::move(jobs), client);
}

Request RequestQueue::submit(std::shared_ptr<RequestState> request, std::vector<DecodeJob> jobs, std::uint64_t client) {
  Workers& workers = this->workers();
  // Let the request add further jobs later, under the same client.
  request->has_queue_stopped = workers.has_stopped();
  request->add_to_queue = [&workers, client](std::shared_ptr<RequestState> again, std::vector<DecodeJob> more) {
    workers.add(std::move(again), std::move(more), client);
  };
  workers.add(request, std::move(jobs), client);
  return Request(std::move(request));
}

}  // namespace encdec
