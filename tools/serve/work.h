#pragma once

#include <encdec/models/model/request_queue.h>

#include <exception>
#include <functional>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "serve/http/mailbox.h"
#include "serve/http/message.h"
#include "serve/served_model.h"

namespace encdec::serve {

// Tokens of a result that are certain, and the log-probability of each.
struct CertainTokens {
  TokenIds ids;
  std::vector<float> scores;
  std::size_t source_tokens = 0;  // that were read for it
};

using CertainSegments = std::vector<TranscriptSegment>;

inline HttpError out_of_time() {
  return {504, "not done within the time that a request may take"};
}

// What becomes of one source of a request: tokens or segments that are certain, or its end.
struct WorkNews {
  std::size_t source = 0;
  std::variant<CertainTokens, CertainSegments, GenerateResult, EmbedResult, Transcript, std::exception_ptr> what = {};
};

// A request in a queue, of one coroutine, which is told by its mailbox. Cancelled with it.
class Work {
 public:
  // As RequestQueue::submit(); the model counts what is done.
  static Work generate(const asio::any_io_executor& executor, ServedModel& model, std::span<const GenerateInput> inputs,
                       const GenerateOptions& options, std::uint64_t client);
  // The same with tokens, each input a request of its own, which can be dropped.
  static Work stream(const asio::any_io_executor& executor, ServedModel& model, std::span<const GenerateInput> inputs,
                     const GenerateOptions& options, std::uint64_t client);
  static Work embed(const asio::any_io_executor& executor, ServedModel& model, std::span<const std::string> texts,
                    const EmbedOptions& options, std::uint64_t client);
  // Segments as they are certain, and at last the transcript without them.
  static Work transcribe(const asio::any_io_executor& executor, ServedModel& model, Recording recording,
                         const TranscribeOptions& options, std::uint64_t client);
  Work(Work&& other) noexcept = default;
  Work& operator=(Work&& other) = delete;
  ~Work() {
    for (const Request& request : requests_) request.cancel();
  }

  // No more of an input of a stream.
  void drop(std::size_t input) const { requests_[input].cancel(); }
  // The next news; rethrows a failure. Throws HttpError, 504, where none has come until then.
  asio::awaitable<WorkNews> next(Clock::time_point deadline);

 private:
  explicit Work(const asio::any_io_executor& executor) : news_(std::make_shared<Mailbox<WorkNews>>(executor)) {}
  struct SourceState;
  static void count_start(const ModelMetrics& metrics, SourceState& state, std::size_t tokens);
  std::function<void(std::size_t, std::exception_ptr)> on_failure(std::size_t first) const;

  std::shared_ptr<Mailbox<WorkNews>> news_;
  std::vector<Request> requests_;
};

}  // namespace encdec::serve
