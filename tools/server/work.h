#pragma once

#include <encdec/models/model/request_queue.h>

#include <exception>
#include <functional>
#include <memory>
#include <variant>
#include <vector>

#include "server/http/mailbox.h"
#include "server/http/message.h"
#include "server/served_model.h"

namespace encdec::serve {

// New final tokens of a result that is still being generated.
struct FinalTokens {
  TokenIds ids;
  std::vector<float> scores;      // log-probability of each token
  std::size_t source_tokens = 0;  // number of tokens of the source
};

// New final segments of a transcript that is still being made.
using FinalSegments = std::vector<TranscriptSegment>;

inline HttpError out_of_time() {
  return {504, "the request took longer than it may (--request-timeout, X-Request-Timeout-Ms)"};
}

// News about one source of a request. FinalTokens and FinalSegments may be followed by more news; the other kinds
// are the last news about their source. Work::next() rethrows an exception_ptr instead of returning it.
struct WorkNews {
  std::size_t source = 0;
  std::variant<FinalTokens, FinalSegments, GenerateResult, VectorResult, Transcript, std::exception_ptr> what = {};
};

// The work for one request in a model's RequestQueue. One coroutine submits it and then takes its news with next(). The
// destructor cancels it. Each function below submits as RequestQueue::submit() does, and counts the work in the metrics
// of the model.
class Work {
 public:
  // Generates from all inputs in one request of the queue. News: a GenerateResult for each input.
  static Work generate(const asio::any_io_executor& executor, ServedModel& model, std::span<const GenerateInput> inputs,
                       const GenerateOptions& options, std::uint64_t client);
  // Generates from each input in a request of its own, so that drop() can cancel the input. News for each input:
  // FinalTokens, and at the end a GenerateResult.
  static Work stream(const asio::any_io_executor& executor, ServedModel& model, std::span<const GenerateInput> inputs,
                     const GenerateOptions& options, std::uint64_t client);
  // Computes the vectors of all texts, their embeddings or scores, in one request of the queue. `face` is the model's
  // Embedder or Classifier. News: a VectorResult for each text.
  template <class Face, class Text, class Options>
  static Work read(const asio::any_io_executor& executor, ServedModel& model, const Face& face,
                   const std::vector<Text>& texts, const Options& options, std::uint64_t client) {
    Work work(executor);
    work.requests_.push_back(
        face.submit(model.queue(), texts, options, work.vector_handlers(model.metrics(), texts.size()), client));
    return work;
  }
  // Transcribes a recording. News: FinalSegments, and at the end a Transcript without segments.
  static Work transcribe(const asio::any_io_executor& executor, ServedModel& model, Recording recording,
                         const TranscribeOptions& options, std::uint64_t client);
  Work(Work&& other) noexcept = default;
  Work& operator=(Work&& other) = delete;
  ~Work() {
    for (const Request& request : requests_) request.cancel();
  }

  // Cancels one input. REQUIRES: this was returned by stream().
  void drop(std::size_t input) const { requests_[input].cancel(); }
  // Waits for news and returns it. Rethrows a failure of the work. Throws HttpError, 504, if no news comes by
  // `deadline`.
  asio::awaitable<WorkNews> next(Clock::time_point deadline);

 private:
  explicit Work(const asio::any_io_executor& executor) : news_(std::make_shared<Mailbox<WorkNews>>(executor)) {}
  struct SourceState;
  using SourceStates = std::vector<SourceState>;
  // Return callbacks that put results and failures into the mailbox. Sources are numbered from `first`. `count`, if not
  // null, counts a result in the metrics; `seconds` is the time since the source was started.
  template <class Result>
  Handlers<Result> handlers(const ModelMetrics& metrics, std::size_t first, std::shared_ptr<SourceStates> states,
                            void (*count)(const ModelMetrics& metrics, const Result& result, double seconds)) const;
  Handlers<VectorResult> vector_handlers(const ModelMetrics& metrics, std::size_t texts) const;

  std::shared_ptr<Mailbox<WorkNews>> news_;
  std::vector<Request> requests_;
};

}  // namespace encdec::serve
