#include "work.h"

#include "http/message.h"

namespace encdec::serve {
namespace {

template <class Handlers, class Result>
Handlers handlers_of(const std::shared_ptr<Mailbox<WorkNews>>& news) {
  return {.on_result =
              [news](std::size_t source, Result result) {
                news->put({source, std::move(result)});
              },
          .on_failure =
              [news](std::size_t source, std::exception_ptr failure) {
                news->put({source, std::move(failure)});
              }};
}

}  // namespace

Work Work::generate(const asio::any_io_executor& executor, RequestQueue& queue, std::span<const GenerateInput> inputs,
                    const GenerateOptions& options, bool with_tokens, std::uint64_t client) {
  Work work(executor);
  auto handlers = handlers_of<GenerateHandlers, GenerateResult>(work.news_);
  if (with_tokens) {
    handlers.on_tokens = [news = work.news_](std::size_t source, std::span<const std::int32_t> tokens,
                                             std::span<const float> scores) {
      news->put({source, CertainTokens{.ids = TokenIds(tokens.begin(), tokens.end()),
                                       .scores = std::vector<float>(scores.begin(), scores.end())}});
    };
  }
  work.request_ = queue.submit(inputs, options, std::move(handlers), client);
  return work;
}

Work Work::embed(const asio::any_io_executor& executor, RequestQueue& queue, std::span<const std::string> texts,
                 const EmbedOptions& options, std::uint64_t client) {
  Work work(executor);
  work.request_ = queue.submit(texts, options, handlers_of<EmbedHandlers, EmbedResult>(work.news_), client);
  return work;
}

asio::awaitable<WorkNews> Work::next(Clock::time_point deadline) {
  std::optional<WorkNews> news = co_await news_->take(deadline);
  if (!news) throw HttpError(504, "not done within the time that a request may take");
  if (const auto* failure = std::get_if<std::exception_ptr>(&news->what)) std::rethrow_exception(*failure);
  co_return std::move(*news);
}

}  // namespace encdec::serve
