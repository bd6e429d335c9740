#pragma once

#include <encdec/models/model/request_queue.h>

#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "server/http/mailbox.h"
#include "server/http/message.h"
#include "server/metrics.h"

namespace encdec::serve {

// New final tokens of a result that is still being generated.
struct FinalTokens {
  TokenIds ids;
  std::vector<float> scores;  // log-probability of each token
  std::size_t source_tokens = 0;
};

inline HttpError timeout_error() {
  return {504, "the request timed out (--request-timeout, X-Request-Timeout-Ms)"};
}

// The state of one source that callbacks need for the metrics. Used only by the worker that computes the source.
struct SourceState {
  Clock::time_point since = Clock::now();  // time of submit(), later the time when a worker started
  std::size_t tokens = 0;                  // tokens of the source
  bool has_first_token = false;            // whether final tokens were put into the mailbox
};
using SourceStates = std::vector<SourceState>;

// An HTTP request's work in a model's RequestQueue. One coroutine submits the work, then receives news: values of
// Kinds. The destructor cancels the work. Order of calls: add* (next | drop)*
template <class... Kinds>
class Work {
 public:
  // News about one source. next() rethrows an exception_ptr instead of returning it.
  struct News {
    std::size_t source = 0;
    std::variant<Kinds..., std::exception_ptr> what = {};
  };

  explicit Work(const asio::any_io_executor& executor) : news_(std::make_shared<Mailbox<News>>(executor)) {}
  Work(Work&& other) noexcept = default;
  Work& operator=(Work&& other) = delete;
  ~Work() {
    for (const Request& request : requests_) request.cancel();
  }

  // Adds a queue request, whose callbacks put their news into news().
  void add(Request request) { requests_.push_back(std::move(request)); }
  const std::shared_ptr<Mailbox<News>>& news() const { return news_; }
  // Returns callbacks that put results and failures into the mailbox and update `metrics`, which must outlive the
  // queue. Sources are numbered from `first`. `count`, if not null, is called with each result and its computing time.
  template <class Result>
  Handlers<Result> handlers(const ModelMetrics& metrics, std::shared_ptr<SourceStates> states, std::size_t first = 0,
                            void (*count)(const ModelMetrics& metrics, const Result& result,
                                          double seconds) = nullptr) const {
    return {.on_result =
                [news = news_, &metrics, first, states, count](std::size_t source, Result result) {
                  if (count != nullptr) count(metrics, result, seconds_since((*states)[source].since));
                  news->put({first + source, std::move(result)});
                },
            .on_failure =
                [news = news_, first](std::size_t source, std::exception_ptr failure) {
                  news->put({first + source, failure});
                },
            .on_start =
                [&metrics, states](std::size_t source, std::size_t tokens) {
                  metrics.source_tokens(static_cast<double>(tokens));
                  metrics.queue_seconds(seconds_since((*states)[source].since));
                  (*states)[source] = {.tokens = tokens};
                }};
  }

  // Cancels the request of the add() call number `request`, counted from 0.
  void drop(std::size_t request) const { requests_[request].cancel(); }
  // Waits for the next news. Rethrows a failure of the work. Throws HttpError, 504, at `deadline`.
  asio::awaitable<News> next(Clock::time_point deadline) {
    std::optional<News> news = co_await news_->take(deadline);
    if (!news) throw timeout_error();
    if (const auto* failure = std::get_if<std::exception_ptr>(&news->what)) std::rethrow_exception(*failure);
    co_return std::move(*news);
  }

 private:
  std::shared_ptr<Mailbox<News>> news_;
  std::vector<Request> requests_;
};

}  // namespace encdec::serve
