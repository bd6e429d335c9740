#include "generate_job.h"

#include <unistd.h>

#include <deque>
#include <exception>
#include <thread>

#include "compute.h"
#include "encdec/engine/base/cancellation.h"
#include "encdec/engine/base/error.h"
#include "encdec/engine/thread_team.h"

namespace encdec::python {

namespace nb = nanobind;

class GenerateJob::Work final : private GenerateStream {
 public:
  Work(const Model& model, GenerateOptions options, OnError on_error, std::size_t most_unanswered)
      : model_(model), options_(std::move(options)), on_error_(on_error), most_unanswered_(most_unanswered) {
    thread_ = start_thread(1, 1, [this] { run(); });
  }
  ~Work() override {
    {
      const std::lock_guard lock(mutex_);
      is_stopped_ = true;
      changed_.notify_all();
    }
    thread_.join();
  }

  bool is_ours() const { return process_ == ::getpid(); }

  std::pair<Event, std::optional<GenerateResult>> wait() {
    std::unique_lock lock(mutex_);
    wait_without_lock(lock, changed_, [this] { return !results_.empty() || has_ended_ || has_room(); });
    if (!results_.empty()) {
      std::pair<Event, std::optional<GenerateResult>> event(Event::result, std::move(results_.front()));
      results_.pop_front();
      --unanswered_;
      return event;
    }
    if (failure_ != nullptr) std::rethrow_exception(failure_);
    return {has_ended_ ? Event::end : Event::room, std::nullopt};
  }

  void add(GenerateInput input) {
    const std::lock_guard lock(mutex_);
    inputs_.push_back(std::move(input));
    ++unanswered_;
    changed_.notify_all();
  }
  void finish() {
    const std::lock_guard lock(mutex_);
    is_finished_ = true;
    changed_.notify_all();
  }

 private:
  struct Stopped : std::exception {};

  bool has_room() const { return !is_finished_ && unanswered_ < most_unanswered_; }

  void run() {
    std::exception_ptr failure;
    const std::function<void()> check = [this] {
      if (is_stopped_) throw Stopped();
    };
    const CancellationScope scope(check);
    try {
      model_.generate_stream(*this, options_);
    } catch (...) {
      failure = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    failure_ = failure;
    has_ended_ = true;
    changed_.notify_all();
  }

  std::optional<GenerateInput> next(Wait wait) override {
    std::unique_lock lock(mutex_);
    if (wait == Wait::yes) {
      changed_.wait(lock, [this] { return !inputs_.empty() || is_finished_ || is_stopped_; });
      if (is_stopped_) throw Stopped();
    }
    if (inputs_.empty()) return std::nullopt;
    std::optional input(std::move(inputs_.front()));
    inputs_.pop_front();
    return input;
  }
  bool passes_over(const Error& /*error*/) override { return on_error_ == OnError::null; }
  void write(GenerateResult result) override {
    const std::lock_guard lock(mutex_);
    results_.push_back(std::move(result));
    changed_.notify_all();
  }

  const ::pid_t process_ = ::getpid();
  const Model model_;
  const GenerateOptions options_;
  const OnError on_error_;
  const std::size_t most_unanswered_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<GenerateInput> inputs_;  // that the model has not read
  std::deque<GenerateResult> results_;
  std::size_t unanswered_ = 0;  // that were added and whose results were not taken
  bool is_finished_ = false;
  bool has_ended_ = false;
  std::atomic<bool> is_stopped_ = false;
  std::exception_ptr failure_;
  std::thread thread_;
};

GenerateJob::GenerateJob(const Model& model, GenerateOptions options, OnError on_error, std::size_t most_unanswered)
    : work_(std::make_unique<Work>(model, std::move(options), on_error, most_unanswered)) {}

GenerateJob::~GenerateJob() {
  close();
}

std::pair<GenerateJob::Event, std::optional<GenerateResult>> GenerateJob::wait() {
  if (work_ == nullptr) return {Event::end, std::nullopt};
  if (!work_->is_ours()) throw Error("generate_iter: its work runs in the process that this one was forked from");
  return work_->wait();
}

void GenerateJob::add(GenerateInput input) {
  if (work_ != nullptr) work_->add(std::move(input));
}

void GenerateJob::finish() {
  if (work_ != nullptr) work_->finish();
}

void GenerateJob::close() {
  if (work_ == nullptr) return;
  if (!work_->is_ours()) return static_cast<void>(work_.release());
  const nb::gil_scoped_release release;
  work_ = nullptr;
}

}  // namespace encdec::python
