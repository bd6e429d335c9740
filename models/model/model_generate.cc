// Model::generate(), generate_ids(), generate_inputs() and generate_stream().

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <map>
#include <new>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "encdec/engine/base/error.h"
#include "encdec/models/model/generate_request.h"
#include "encdec/models/model/mailbox.h"
#include "encdec/models/model/model_impl.h"
#include "encdec/models/session/token_rows.h"

namespace encdec {
namespace {

// Maximum sizes of a group: inputs that are read ahead and submitted together.
constexpr std::size_t kGroupSources = 1024;
constexpr std::size_t kGroupTokens = 1 << 20;
// Reading pauses while the results of this many inputs have not been written.
constexpr std::size_t kWaitingResults = 4 * kGroupSources;
// Time between two attempts to read an input that has not arrived yet.
constexpr std::chrono::milliseconds kPollInterval(10);

// Generates from all inputs of a stream. The caller's thread reads inputs, submits them to a
// private queue and writes the results in the order of the inputs.
// - Reads a group of inputs and submits the longest inputs first, so that no long input runs alone at the end.
// - Bounds memory: reads no further group while the results of kWaitingResults inputs have not been written.
class GenerateCall {
 public:
  GenerateCall(const Model& model, const GenerateOptions& options, GenerateStream& stream)
      : options_(options), stream_(stream) {
    // Handlers run on workers' threads. They put events into the mailbox, for the caller's thread.
    GenerateHandlers handlers;
    handlers.on_result = [this](std::size_t source, GenerateResult result) {
      ++finished_;
      mailbox_.put({source, std::move(result)});
    };
    handlers.on_failure = [this](std::size_t source, std::exception_ptr failure) { mailbox_.put({source, failure}); };
    handlers.on_start = [this](std::size_t, std::size_t) {
      if (--unstarted_ == 0) mailbox_.wake();
    };
    if (options.on_token) {
      handlers.on_tokens = [this](std::size_t source, std::span<const std::int32_t> tokens, std::span<const float>) {
        mailbox_.put({source, TokenIds(tokens.begin(), tokens.end())});
      };
    }
    // Leave out the attention maps, which are large. write_ready_results() computes the maps of one result at a time.
    request_ =
        std::make_shared<GenerateRequest>(model, options, std::move(handlers), GenerateRequest::Attention::left_out);
    const auto report = [this](std::exception_ptr failure) { mailbox_.put({0, std::move(failure)}); };
    RequestQueueOptions of_queue = request_->queue_options(options);
    of_queue.on_node_run = reporting_failures(options.on_node_run, report);
    if (options.on_progress) {
      const std::function with_sources = [this](const GenerateProgress& done) {
        GenerateProgress progress = done;
        progress.finished_sources = finished_;
        options_.on_progress(progress);
      };
      of_queue.on_progress = reporting_failures(with_sources, report);
    }
    queue_.emplace(model, of_queue);
    queue_->submit(request_, {});
  }

  void run() {
    while (!is_at_end_ || written_ < read_) {
      if (may_read() && read_group()) continue;
      if (request_->is_over()) throw std::bad_alloc();  // a handler of this class has failed
      deliver(mailbox_.take(is_at_end_ ? kCancellationInterval : kPollInterval));
    }
    // Wait for the workers. If their last events contain a callback's exception, deliver() rethrows it.
    queue_.reset();
    deliver(mailbox_.take({}));
    if (input_failure_ != nullptr) std::rethrow_exception(input_failure_);
  }

 private:
  // A message from a worker: new final tokens, a result, or a failure.
  struct Event {
    std::size_t source = 0;
    std::variant<TokenIds, GenerateResult, std::exception_ptr> what = {};
  };

  // Returns whether to read the next group: workers have taken all earlier inputs, and few results are waiting.
  bool may_read() const { return !is_at_end_ && unstarted_ == 0 && read_ - written_ < kWaitingResults; }

  // Reads and submits a group of inputs. Returns false if no input has arrived.
  bool read_group() {
    using Wait = GenerateStream::Wait;
    const std::size_t first = read_;
    std::vector<DecodeJob> jobs;
    std::size_t tokens = 0;
    while (!is_at_end_ && read_ - first < kGroupSources && tokens < kGroupTokens) {
      const bool waits = read_ == written_;  // block only if no results are pending
      try {
        const std::optional<GenerateInput> input = stream_.next(waits ? Wait::yes : Wait::no);
        if (!input) {
          is_at_end_ = waits;
          break;
        }
        if (std::optional<DecodeJob> job = job_of(*input)) {
          tokens += job->tokens();
          jobs.push_back(*std::move(job));
        } else {  // the stream skips this input
          results_.emplace(read_, GenerateResult{});
          ++finished_;
        }
      } catch (...) {
        input_failure_ = std::current_exception();
        is_at_end_ = true;
        break;
      }
      ++read_;
    }
    sort_longest_first(jobs);
    unstarted_ += jobs.size();
    request_->enqueue(std::move(jobs));
    write_ready_results();
    return read_ > first || is_at_end_;
  }

  // Returns the job of input number read_, or nullopt if the input is invalid and the stream skips it.
  std::optional<DecodeJob> job_of(const GenerateInput& input) {
    try {
      return request_->task().job(input, read_);
    } catch (const InputError& error) {
      if (!stream_.skips(error)) throw;
    } catch (const TokenizerError& error) {
      if (!stream_.skips(error)) throw;
    }
    return std::nullopt;
  }

  void deliver(std::vector<Event> events) {
    for (Event& event : events) {
      if (const auto* tokens = std::get_if<TokenIds>(&event.what)) {
        for (const std::int32_t token : *tokens) options_.on_token(event.source, token);
      } else if (auto* result = std::get_if<GenerateResult>(&event.what)) {
        results_.emplace(event.source, std::move(*result));
      } else {
        std::rethrow_exception(std::get<std::exception_ptr>(event.what));
      }
    }
    write_ready_results();
  }

  void write_ready_results() {
    while (!results_.empty() && results_.begin()->first == written_) {
      auto next = results_.extract(results_.begin());
      ++written_;
      request_->task().add_attention(next.mapped());
      stream_.write(std::move(next.mapped()));
    }
  }

  const GenerateOptions& options_;
  GenerateStream& stream_;
  Mailbox<Event> mailbox_;
  std::atomic<std::size_t> unstarted_ = 0;  // number of submitted inputs that no worker has taken
  std::atomic<std::size_t> finished_ = 0;
  std::map<std::size_t, GenerateResult> results_;  // results that wait for results of earlier inputs
  std::size_t read_ = 0;                           // number of inputs read
  std::size_t written_ = 0;                        // number of results written
  bool is_at_end_ = false;
  std::exception_ptr input_failure_;  // failure to read an input; thrown after the earlier inputs are done
  std::shared_ptr<GenerateRequest> request_;
  std::optional<RequestQueue> queue_;  // destroyed first: its workers use the other members
};

}  // namespace

std::vector<GenerateResult> Model::generate(const std::vector<std::string>& sources,
                                            const GenerateOptions& options) const {
  ListStream<std::string> list(sources);
  generate_stream(list, options);
  return std::move(list.results);
}

std::vector<GenerateResult> Model::generate_ids(std::span<const TokenIds> sources,
                                                const GenerateOptions& options) const {
  // Check the lengths of all sources before any work, unless long sources will be truncated.
  expect_text_model(impl_->parts());
  if (options.long_sources == LongSources::error) check_rows(sources, impl_->config.input_stack(), "source");
  ListStream<TokenIds> list(sources);
  generate_stream(list, options);
  return std::move(list.results);
}

std::vector<GenerateResult> Model::generate_inputs(std::span<const GenerateInput> inputs,
                                                   const GenerateOptions& options) const {
  ListStream<GenerateInput> list(inputs);
  generate_stream(list, options);
  return std::move(list.results);
}

void Model::generate_stream(GenerateStream& stream, const GenerateOptions& options) const {
  GenerateCall(*this, options, stream).run();
}

}  // namespace encdec
