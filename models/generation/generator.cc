#include "encdec/models/generation/generator.h"

#include <memory>
#include <mutex>
#include <thread>

#include "encdec/engine/base/cancellation.h"
#include "encdec/models/generation/batch_decoder.h"
#include "encdec/models/generation/generation_task.h"
#include "encdec/models/generation/not_a_number.h"
#include "encdec/models/generation/source_feed.h"

namespace encdec {
namespace {

// One generate() call: its feed, its workers and its callbacks.
class Generator final : DecodeClient {
 public:
  Generator(const ModelParts& parts, const GenerateOptions& options, GenerateStream& stream)
      : parts_(parts),
        task_(parts, options),
        limits_(choose_batch_limits(parts.network,
                                    static_cast<std::size_t>(settings_.batch_size) * task_.rules().rows_per_source(),
                                    settings_.workers)),
        feed_({.stream = stream,
               .prepare = [this](const GenerateInput& input, std::size_t index) { return job_of(input, index); },
               // Computes attention maps just before a result is written. They are large, and a result may wait long
               // for earlier ones.
               .complete = [this](GenerateResult& result) { task_.add_attention(result); }}),
        progress_(static_cast<std::size_t>(settings_.workers)) {}

  void run() {
    std::vector<std::thread> others;
    try {
      others.reserve(progress_.size());
      for (std::size_t worker = 1; worker < progress_.size(); ++worker) {
        others.push_back(
            start_thread(static_cast<int>(worker) + 1, settings_.workers, [this, worker] { work(worker); }));
      }
    } catch (...) {
      feed_.stop(std::current_exception());
    }
    work(0);
    for (std::thread& other : others) other.join();
    feed_.rethrow_failure();
  }

 private:
  void work(std::size_t worker) {
    try {
      const CancellationScope scope(check_);
      SessionPool::Lease session(parts_.sessions);
      session->set_shortlist(task_.shortlist());
      if (settings_.on_node_run) {
        session->set_run_observer([this](const NodeRun& run) {
          const std::lock_guard lock(callback_mutex_);
          settings_.on_node_run(run);
        });
      }
      BatchWork batches{.session = *session, .limits = limits_};
      if (settings_.on_progress) {
        batches.on_step = [this, worker](const GenerateProgress& done, std::size_t) { report(worker, done); };
      }
      decode_batches(feed_, batches);
    } catch (...) {
      feed_.stop(std::current_exception());
    }
  }

  DecodeJob job_of(const GenerateInput& input, std::size_t index) {
    DecodeJob job = task_.job(input, index);
    job.client = std::shared_ptr<DecodeClient>(std::shared_ptr<void>(), this);
    return job;
  }

  void on_result(const DecodeJob& job, std::vector<Hypothesis> hypotheses) override {
    feed_.finish(job.index, task_.result(job, std::move(hypotheses)));
  }
  void on_failure(const DecodeJob& /*job*/, const std::exception_ptr& failure) override {
    feed_.stop(explained(failure, parts_));
  }
  void on_tokens(const DecodeJob& job, Search::ScoredTokens tokens) override {
    const std::lock_guard lock(callback_mutex_);
    for (const std::int32_t token : tokens.tokens) settings_.on_token(job.index, token);
  }
  bool wants_tokens() const override { return settings_.on_token != nullptr; }
  bool is_cancelled() const override { return false; }

  void report(std::size_t worker, const GenerateProgress& done) {
    const std::lock_guard lock(callback_mutex_);
    progress_[worker] = done;
    GenerateProgress total{.finished_sources = feed_.finished_sources()};
    for (const GenerateProgress& part : progress_) total += part;
    settings_.on_progress(total);
  }

  const std::function<void()>* check_ = CancellationScope::check_of_this_thread();  // the caller's, for all workers
  ModelParts parts_;
  GenerationTask task_;
  const GenerateOptions& settings_ = task_.settings();
  BatchLimits limits_;
  SourceFeed feed_;
  std::mutex callback_mutex_;               // held during callbacks
  std::vector<GenerateProgress> progress_;  // by worker
};

}  // namespace

void generate(const ModelParts& parts, const GenerateOptions& options, GenerateStream& stream) {
  Generator(parts, options, stream).run();
}

}  // namespace encdec
