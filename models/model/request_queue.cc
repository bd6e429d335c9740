#include "encdec/models/model/request_queue.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "encdec/engine/base/cancellation.h"
#include "encdec/engine/thread_team.h"
#include "encdec/models/generation/batch_decoder.h"
#include "encdec/models/model/embed_request.h"
#include "encdec/models/model/generate_request.h"
#include "encdec/models/model/model_impl.h"
#include "encdec/models/model/request_state.h"
#include "encdec/models/session/token_rows.h"

namespace encdec {

void Request::cancel() const {
  if (state_ != nullptr) state_->cancel();
}

// The waiting requests of a queue, and its worker threads.
struct RequestQueue::Workers {
  Workers(const Model& model, const RequestQueueOptions& options)
      : parts_(model.parts()), options_(options), last_reports_(static_cast<std::size_t>(options.workers)) {
    try {
      for (int worker = 1; worker <= options.workers; ++worker) {
        auto& last_report = last_reports_[static_cast<std::size_t>(worker) - 1];
        threads_.push_back(start_thread(worker, options.workers, [this, &last_report] { work(last_report); }));
      }
    } catch (...) {
      stop();
      throw;
    }
  }
  ~Workers() { stop(); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  void add(std::shared_ptr<RequestState> request, std::uint64_t client) {
    if (request->waiting.empty()) return;
    if (request->has_queue_stopped == nullptr) request->has_queue_stopped = has_stopped_;
    const std::size_t sources = request->waiting.size();
    {
      const std::lock_guard lock(mutex_);
      const auto known = client == 0 ? clients_.end() : std::ranges::find(clients_, client, &Client::number);
      Client& owner = known != clients_.end() ? *known : clients_.emplace_back(client);
      owner.requests.push_back(std::move(request));
      waiting_ += sources;
    }
    sources == 1 ? arrived_.notify_one() : arrived_.notify_all();
  }

  QueueStatus status() const {
    QueueStatus status{.waiting = waiting_, .steps = steps_, .rows = rows_};
    const Clock::rep now = Clock::now().time_since_epoch().count();
    for (const Clock::rep since : last_reports_) {
      if (since != kIdle)
        status.silence = std::max<std::chrono::duration<double>>(status.silence, Clock::duration(now - since));
    }
    return status;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr Clock::rep kIdle = 0;

  // A client with its waiting requests, at least one.
  struct Client {
    explicit Client(std::uint64_t number_) : number(number_) {}

    std::uint64_t number;
    std::deque<std::shared_ptr<RequestState>> requests = {};  // next turn first
  };

  // The feed of one busy worker: the sources of all requests without a shortlist, or of the one request that has
  // `shortlist`.
  class WorkerFeed final : public DecodeFeed {
   public:
    WorkerFeed(Workers& workers, const VocabularyShortlist* shortlist) : workers_(workers), shortlist_(shortlist) {}
    // Reading recordings delays the sources that are being decoded. Therefore reading takes at most 10 ms per call and,
    // while sources are being decoded, at most the time since the previous call.
    void take(Capacity capacity, std::vector<DecodeJob>& jobs) override {
      const Clock::time_point now = Clock::now();
      const Clock::duration reading = capacity.is_idle ? kReading : std::min(kReading, now - taken_at_);
      workers_.take(shortlist_, capacity, now + reading, jobs);
      taken_at_ = Clock::now();
    }
    bool has_stopped() override { return *workers_.has_stopped_; }

   private:
    static constexpr Clock::duration kReading = std::chrono::milliseconds(10);

    Workers& workers_;
    const VocabularyShortlist* shortlist_;
    Clock::time_point taken_at_ = Clock::now();
  };

  // Thrown by a worker's cancellation check when the queue is being destroyed. All requests are over by then, so no
  // callback is called.
  struct Stopped {};

  // Serves requests until the queue is destroyed. `last_report` gets the time of this worker's last progress report, or
  // kIdle while it waits for a request.
  void work(std::atomic<Clock::rep>& last_report) {
    const std::function<void()> report_alive = [&] {
      last_report = Clock::now().time_since_epoch().count();
      if (*has_stopped_) throw Stopped();
    };
    const auto on_step = [&](std::size_t rows) {
      rows_ += rows;
      ++steps_;
    };
    while (const std::shared_ptr<RequestState> request = wait_for_request()) {
      const CancellationScope scope(report_alive);
      try {
        report_alive();
        SessionPool::Lease session(parts_.sessions);
        session->set_shortlist(request->shortlist());
        WorkerFeed feed(*this, request->shortlist());
        if (parts_.network.config.has_decoder()) {
          const auto rows = static_cast<std::size_t>(options_.batch_size);
          decode_batches(feed, {.session = *session,
                                .limits = choose_batch_limits(parts_.network, rows, options_.workers),
                                .on_step = [&](const GenerateProgress&, std::size_t done) { on_step(done); }});
        } else {
          embed_batches(feed, *session, on_step);
        }
      } catch (...) {
        // Failures of sources that had been taken have been reported. Fail the rest of the request too, or its next
        // turn would fail in the same way.
        fail(*request, std::current_exception());
      }
      last_report = kIdle;
    }
  }

  // Waits for a request, and returns the one whose turn is next; null if the queue is being destroyed.
  std::shared_ptr<RequestState> wait_for_request() {
    std::unique_lock lock(mutex_);
    ++idle_;
    arrived_.wait(lock, [this] { return *has_stopped_ || !clients_.empty(); });
    --idle_;
    return *has_stopped_ ? nullptr : clients_.front().requests.front();
  }

  // Takes jobs that fit in `capacity`, in the order of turns. Jobs among them that must be prepared are prepared until
  // `prepare_until`; a job that needs more time is queued again.
  // Takes nothing while a request with another shortlist is next: the batch ends, and then that request begins one.
  // Within the first call for a batch, such requests keep their places, and those after them are taken.
  void take(const VocabularyShortlist* shortlist, DecodeFeed::Capacity capacity, Clock::time_point prepare_until,
            std::vector<DecodeJob>& jobs) {
    jobs.clear();
    std::vector<DecodeJob> empty;
    {
      const std::lock_guard lock(mutex_);
      // Leave an equal share of the waiting sources to each idle worker.
      std::size_t max_jobs = std::numeric_limits<std::size_t>::max();
      if (capacity.is_idle && idle_ > 0) {
        std::size_t waiting = 0;
        for (const Client& one : clients_) {
          for (const auto& request : one.requests) waiting += request->waiting.size();
        }
        max_jobs = waiting / (idle_ + 1) + 1;
      }
      const bool begins_batch = capacity.is_idle;
      std::size_t next = 0;  // index of the next client
      while (next < clients_.size() && jobs.size() < max_jobs) {
        const std::shared_ptr<RequestState>& first = clients_[next].requests.front();
        RequestState& request = *first;
        if (!request.is_over()) {
          if (request.shortlist() != shortlist) {
            if (!begins_batch || (jobs.empty() && empty.empty())) break;
            ++next;
            continue;
          }
          DecodeJob& job = request.waiting.front();
          const bool is_empty = request.is_empty(job);
          if (!is_empty && !capacity.take(job)) break;
          job.client = first;
          (is_empty ? empty : jobs).push_back(std::move(job));
          request.waiting.pop_front();
          --waiting_;
        }
        const bool is_done = request.is_over() || request.waiting.empty();
        if (is_done) {
          waiting_ -= request.waiting.size();
          request.waiting.clear();
        }
        if (is_done || shortlist == nullptr) end_turn(next, is_done);
      }
      // A request with a shortlist has one turn for all that fits.
      if (!jobs.empty() && shortlist != nullptr && next < clients_.size() &&
          clients_[next].requests.front()->shortlist() == shortlist) {
        end_turn(next, false);
      }
    }
    for (const DecodeJob& job : jobs) request_of(job).on_start(job);
    prepare(prepare_until, jobs);
    for (const DecodeJob& job : empty) {
      request_of(job).on_start(job);
      job.client->on_result(job, {});
    }
  }

  // Ends the turn of a client and of its first request, which is removed if it is done.
  // If memory is short, the client keeps its place.
  void end_turn(std::size_t index, bool is_done) {
    std::deque<std::shared_ptr<RequestState>>& requests = clients_[index].requests;
    if (!is_done) requests.push_back(requests.front());
    requests.pop_front();
    if (!requests.empty()) clients_.push_back(std::move(clients_[index]));
    clients_.erase(clients_.begin() + static_cast<std::ptrdiff_t>(index));
  }

  static RequestState& request_of(const DecodeJob& job) { return static_cast<RequestState&>(*job.client); }

  // Prepares those jobs that need it, one after the other, until the time `until`; at least the first. Removes jobs
  // that cannot be decoded yet and queues them again: first those that were not tried for lack of time, so that they
  // come first in the next turn.
  static void prepare(Clock::time_point until, std::vector<DecodeJob>& jobs) {
    std::vector<DecodeJob> late, unfinished;
    bool has_prepared = false;
    std::erase_if(jobs, [&](DecodeJob& job) {
      if (!request_of(job).needs_preparation()) return false;
      if (std::exchange(has_prepared, true) && Clock::now() >= until) {
        late.push_back(std::move(job));
        return true;
      }
      // Keeps the request alive: prepare() may drop the job's reference to it.
      const auto request = std::static_pointer_cast<RequestState>(job.client);
      const RequestState::Prepared prepared = request->prepare(job, until);
      if (prepared == RequestState::Prepared::unfinished) unfinished.push_back(std::move(job));
      return prepared != RequestState::Prepared::ready;
    });
    for (std::vector<DecodeJob>* again : {&late, &unfinished}) {
      for (DecodeJob& job : *again) {
        const auto request = std::static_pointer_cast<RequestState>(std::exchange(job.client, nullptr));
        request->wait_again(std::move(job));
      }
    }
  }

  // Encodes texts of all requests, in batches large enough to keep the CPU busy.
  template <class OnStep>
  void embed_batches(WorkerFeed& feed, Session& session, const OnStep& on_step) {
    constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max();
    const std::size_t rows = options_.batch_size > 0 ? static_cast<std::size_t>(options_.batch_size) : kAny;
    std::vector<DecodeJob> jobs;
    while (!*has_stopped_) {
      feed.take({.rows = rows, .bytes = kAny, .tokens = kTokensPerBatch, .is_idle = true}, jobs);
      if (jobs.empty()) return;
      try {
        std::vector<TokenIds> texts;
        for (const DecodeJob& job : jobs) texts.push_back(job.prompt.source);
        const Tensor hidden = session.encode(texts).hidden;
        Dim row = 0;
        for (const DecodeJob& job : jobs) {
          const auto length = static_cast<Dim>(job.prompt.source.size());
          request_of(job).on_hidden(job, hidden.slice(row, length));
          row += length;
        }
        on_step(jobs.size());
      } catch (...) {
        for (const DecodeJob& job : jobs) job.client->on_failure(job, std::current_exception());
        throw;
      }
    }
  }

  // Reports `failure` for the sources of the request that are still waiting.
  void fail(RequestState& request, const std::exception_ptr& failure) {
    std::deque<DecodeJob> jobs;
    {
      const std::lock_guard lock(mutex_);
      jobs.swap(request.waiting);
      waiting_ -= jobs.size();
      for (Client& client : clients_) {
        std::erase_if(client.requests, [&](const auto& other) { return other.get() == &request; });
      }
      std::erase_if(clients_, [](const Client& client) { return client.requests.empty(); });
    }
    for (const DecodeJob& job : jobs) request.on_failure(job, failure);
  }

  void stop() {
    {
      const std::lock_guard lock(mutex_);
      *has_stopped_ = true;
    }
    arrived_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  ModelParts parts_;
  RequestQueueOptions options_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Client> clients_;  // clients with waiting requests, next turn first
  std::size_t idle_ = 0;        // number of waiting workers
  const std::shared_ptr<std::atomic<bool>> has_stopped_ = std::make_shared<std::atomic<bool>>(false);
  // Counters of QueueStatus.
  std::atomic<std::size_t> waiting_ = 0;
  std::atomic<std::uint64_t> steps_ = 0, rows_ = 0;
  std::vector<std::atomic<Clock::rep>> last_reports_;  // time of each worker's last report, or kIdle
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
  GenerateOptions asked = options;
  asked.batch_size = options_.batch_size;
  asked.workers = options_.workers;
  asked.on_token = nullptr;
  // Makes GenerationTask check that tokens can be reported one by one.
  if (handlers.on_tokens) asked.on_token = [](std::size_t, std::int32_t) {};
  return submit(std::make_shared<GenerateRequest>(model_, inputs, asked, std::move(handlers)), client);
}

Request RequestQueue::submit(std::span<const std::string> texts, const EmbedOptions& options, EmbedHandlers handlers,
                             std::uint64_t client) {
  return submit(std::make_shared<EmbedRequest>(model_, model_.impl_->embedder, texts, options, std::move(handlers)),
                client);
}

Request RequestQueue::submit(std::shared_ptr<RequestState> request, std::uint64_t client) {
  Workers& workers = this->workers();
  request->resubmit = [&workers, client](std::shared_ptr<RequestState> again, DecodeJob job) {
    again->waiting.push_back(std::move(job));
    workers.add(std::move(again), client);
  };
  workers.add(request, client);
  return Request(std::move(request));
}

}  // namespace encdec
