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
  std::vector<float> scores;      // log-probability of each token
  std::size_t source_tokens = 0;  // number of tokens of the source
};

inline HttpError out_of_time() {
  return {504, "the request took longer than it may (--request-timeout, X-Request-Timeout-Ms)"};
}

// The state of one source, which its callbacks keep for the metrics. Only the worker that computes the source uses it.
struct SourceState {
  Clock::time_point since = Clock::now();  // time of submit(), then time when the worker started
  std::size_t tokens = 0;                  // number of tokens of the source
  bool has_first_token = false;            // final tokens were put into the mailbox
};
using SourceStates = std::vector<SourceState>;

// The work for one request in a model's RequestQueue. One coroutine submits it and then takes its news, each of one of
// the Kinds, with next(). The destructor cancels it. Order of calls: add* (next or drop)*
template <class... Kinds>
class Work {
 public:
  // News about one source of the request. next() rethrows an exception_ptr instead of returning it.
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

  // Adds a request of the queue. Its callbacks put their news into news().
  void add(Request request) { requests_.push_back(std::move(request)); }
  const std::shared_ptr<Mailbox<News>>& news() const { return news_; }
  // Returns callbacks that put results and failures into the mailbox, and count sources in the metrics of the model,
  // which outlive its queue. Sources are numbered from `first`. `count`, if not null, counts a result; `seconds` is the
  // time since the source was started.
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

  // Cancels the request that was added as number `request`.
  void drop(std::size_t request) const { requests_[request].cancel(); }
  // Waits for news and returns it. Rethrows a failure of the work. Throws HttpError, 504, if no news comes by
  // `deadline`.
  asio::awaitable<News> next(Clock::time_point deadline) {
    std::optional<News> news = co_await news_->take(deadline);
    if (!news) throw out_of_time();
    if (const auto* failure = std::get_if<std::exception_ptr>(&news->what)) std::rethrow_exception(*failure);
    co_return std::move(*news);
  }

 private:
  std::shared_ptr<Mailbox<News>> news_;
  std::vector<Request> requests_;
};

}  // namespace encdec::serve
